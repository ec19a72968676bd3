// The modules of the page, for tests that have no browser.

/** Where they are. */
export const PAGE = new URL("../../../crates/serve/page/", import.meta.url);

/** The module of this name, such as `data/time`. */
export const load = (name) => import(new URL(`${name}.js`, PAGE).href);

/** Answers requests by `answer(path, query)`: an object is JSON, a list of pairs a stream of events. */
export function serve(answer) {
  globalThis.fetch = async (address, { signal } = {}) => {
    signal?.throwIfAborted();
    const { pathname, searchParams } = new URL(address, "http://page/");
    const said = await answer(decodeURIComponent(pathname.slice("/api/".length)), searchParams);
    if (said instanceof Response) return said;
    if (!Array.isArray(said)) return Response.json(said);
    return new Response(said.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join(""));
  };
}
