// A clock in the place of the page's own that goes on by itself, and can be moved forward.
if (!window.__clock) {
    const real = { now: performance.now.bind(performance), Date, set: setTimeout, clear: clearTimeout };
    const timers = new Map();
    let ahead = 0, numbers = 2 ** 40;
    const now = () => real.now() + ahead;
    const begin = (number, run, wait, again, given) => {
        const due = now() + wait;
        const fire = () => {
            if (again) begin(number, run, wait, again, given);
            else timers.delete(number);
            run(...given);
        };
        timers.set(number, { due, fire, waiting: real.set.call(window, fire, wait) });
        return number;
    };
    const end = number => {
        real.clear.call(window, timers.get(number)?.waiting ?? number);
        timers.delete(number);
    };
    const drivers = given[0]; // the time that the driver gives a script of its own
    window.setTimeout = (run, wait = 0, ...given) =>
        wait === drivers ? real.set.call(window, run, wait) : begin(++numbers, run, +wait || 0, false, given);
    window.setInterval = (run, wait = 0, ...given) => begin(++numbers, run, Math.max(1, +wait || 0), true, given);
    window.clearTimeout = window.clearInterval = end;
    const frame = requestAnimationFrame;
    window.requestAnimationFrame = run => frame.call(window, time => run(time + ahead));
    performance.now = now;
    window.Date = class extends Date {
        constructor(...given) {
            super(...(given.length ? given : [real.Date.now() + ahead]));
        }
        static now() {
            return real.Date.now() + ahead;
        }
    };
    // Every timer that is due by then runs once, in the order of their times, as in Playwright's clock.
    window.__clock = milliseconds => {
        ahead += milliseconds;
        const late = [...timers].filter(([, { due }]) => due <= now()).sort(([, one], [, two]) => one.due - two.due);
        for (const [number, each] of late) {
            if (timers.get(number) !== each) continue; // one before it has cleared it
            real.clear.call(window, each.waiting);
            each.fire();
        }
    };
}
