/* Whether the server is still there. */

const GONE = [502, 504]; // what a proxy says of a server that does not answer

/** Nobody answers at this page's own address, or a proxy says that nobody does. */
export const serverGone = async (): Promise<boolean> => {
  try {
    const answer = await fetch(location.pathname, { method: "HEAD", cache: "no-store" });
    return GONE.includes(answer.status);
  } catch {
    return true;
  }
};
