/* Finds what a test names as Playwright would: CSS with `:has-text`, `:text` and `:visible`, `text=`, `>>`, roles. */
const requestIdleCallback = window.requestIdleCallback ?? (run => setTimeout(run, 50)); // WebKit has none; for `evaluate`
const find = (() => {
    const plain = text => (text ?? '').replace(/\s+/g, ' ').trim();
    const visible = node => {
        const { width, height } = node.getBoundingClientRect();
        return width > 0 && height > 0 && getComputedStyle(node).visibility === 'visible';
    };
    const wanted = ({ text, regex, exact }) => {
        if (regex) return found => new RegExp(...regex).test(plain(found));
        if (exact) return found => plain(found) === plain(text);
        const small = plain(text).toLowerCase();
        return found => plain(found).toLowerCase().includes(small);
    };
    const smallest = (nodes, holds) => nodes.filter(node => !/^(SCRIPT|STYLE|NOSCRIPT|HEAD)$/.test(node.tagName)
        && holds(node.textContent) && ![...node.children].some(child => holds(child.textContent)));
    const unquoted = text => text.replace(/^(['"])(.*)\1$/s, '$2');

    let marks = 0;
    const PSEUDO = /:(?:(has-text|text)\(("[^"]*"|'[^']*')\)|(visible)(?![\w-]))/;
    /* A pseudo-class that CSS does not know becomes a mark on what it holds for. */
    const css = (root, selector) => {
        const used = [];
        for (let found; (found = PSEUDO.exec(selector));) {
            const before = selector.slice(0, found.index);
            const prefix = /[\s>+~,]$|^$/.test(before) ? `${before}*` : before;
            const nodes = [...root.querySelectorAll(prefix)];
            const holds = found[1] && wanted({ text: unquoted(found[2]) });
            const kept = found[3] ? nodes.filter(visible)
                : found[1] === 'text' ? smallest(nodes, holds) : nodes.filter(node => holds(node.textContent));
            const mark = `data-found-${++marks}`;
            for (const node of kept) node.setAttribute(mark, '');
            used.push([mark, kept]);
            selector = `[${mark}]` + selector.slice(found.index + found[0].length);
        }
        const all = [...root.querySelectorAll(selector)];
        for (const [mark, kept] of used) for (const node of kept) node.removeAttribute(mark);
        return all;
    };

    const ROLES = {
        button: 'button, summary, input[type=button], input[type=submit]', combobox: 'select:not([multiple])',
        group: 'fieldset', dialog: 'dialog', status: 'output', link: 'a[href]', checkbox: 'input[type=checkbox]',
        radio: 'input[type=radio]', textbox: 'textarea, input:not([type]), input[type=text]', img: 'img',
        heading: 'h1, h2, h3, h4', slider: 'input[type=range]', table: 'table',
    };
    const named = node => {
        const by = node.getAttribute('aria-labelledby');
        if (by) return by.split(/\s+/).map(id => document.getElementById(id)?.textContent).join(' ');
        return node.getAttribute('aria-label') || node.querySelector(':scope > legend')?.textContent
            || node.labels?.[0]?.textContent || plain(node.textContent) || node.title || '';
    };
    const STEPS = {
        css: (node, step) => css(node, step.css),
        text: (node, step) => smallest([...(node === document ? [] : [node]), ...node.querySelectorAll('*')], wanted(step)),
        role: (node, step) => {
            const own = [...node.querySelectorAll(`[role=${step.role}]`)];
            const implied = ROLES[step.role] ? [...node.querySelectorAll(ROLES[step.role])] : [];
            const all = new Set([...own, ...implied.filter(each => !each.hasAttribute('role'))]);
            return [...all].filter(each => visible(each) && (!step.name || wanted(step.name)(named(each))));
        },
        label: (node, step) => [...node.querySelectorAll('input, textarea, select, [aria-label], [aria-labelledby]')]
            .filter(each => wanted(step)(named(each))),
    };
    const all = (steps, from = document) => {
        let nodes = [from];
        for (const step of steps) {
            if (step.kind === 'nth') nodes = [nodes.at(step.nth)].filter(Boolean);
            else if (step.kind === 'filter') nodes = nodes.filter(node => wanted(step)(node.textContent));
            else if (step.kind === 'visible') nodes = nodes.filter(visible);
            else if (step.kind === 'has') nodes = nodes.filter(node => all(step.steps, node).length);
            else nodes = [...new Set(nodes.flatMap(node => STEPS[step.kind](node, step)))];
        }
        return nodes;
    };
    const one = steps => {
        const [node] = all(steps);
        if (!node) throw new Error(`nothing is found by ${JSON.stringify(steps)}`);
        return node;
    };
    return { all, one, visible, plain, wanted };
})();
