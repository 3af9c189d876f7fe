/* The service worker: the page opens and explores without a network once it was visited. Weights
   are kept elsewhere. */

interface Event_ {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent_ extends Event_ {
  request: globalThis.Request;
  respondWith(answer: Promise<Response>): void;
}

const VERSION = new URL(location.href).searchParams.get("v") ?? "";
const CACHE = `attention-explorer-page-${VERSION}`;
const OTHERS = /^attention-explorer-page-/;
/** Written by the exporter: everything that opening the page takes. */
const SHELL = "shell.json";
const WEIGHTS = /\/checkpoints\/[^/]+\/|\/weights\//;

const worker = globalThis as unknown as {
  addEventListener(name: "install" | "activate", listener: (event: Event_) => void): void;
  addEventListener(name: "fetch", listener: (event: FetchEvent_) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
};

async function install(): Promise<void> {
  const files = (await (await fetch(SHELL, { cache: "no-store" })).json()) as string[];
  await (await caches.open(CACHE)).addAll(files);
  await worker.skipWaiting();
}

async function activate(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(
    names.filter((name) => OTHERS.test(name) && name !== CACHE).map((name) => caches.delete(name)),
  );
  await worker.clients.claim();
}

/**
 * The page itself from the network while there is one, so that a new one is seen; all else as it
 * was kept.
 */
async function answer(request: globalThis.Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  const address = new URL(request.url);
  const page = request.mode === "navigate";
  if (page) address.search = ""; // ?direction= and ?text= are the page's own matter
  const kept = await cache.match(page ? new Request(address.href) : request);
  if (kept && !page) return kept;
  try {
    const fresh = await fetch(request);
    if (fresh.ok && fresh.status === 200 && !page) await cache.put(request, fresh.clone());
    return fresh;
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}

worker.addEventListener("install", (event) => event.waitUntil(install()));
worker.addEventListener("activate", (event) => event.waitUntil(activate()));
worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const mine = new URL(request.url).origin === location.origin;
  if (request.method !== "GET" || !mine || WEIGHTS.test(request.url)) return;
  event.respondWith(answer(request));
});
