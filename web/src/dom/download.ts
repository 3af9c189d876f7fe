/* Files that are made in the page. */

import { el } from "./element";

const KEPT = 60_000; // ms that a browser has to begin a download

export const saveAs = (name: string, blob: Blob): void => {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
};

const loaded = (image: HTMLImageElement, url: string): Promise<unknown> =>
  new Promise((done, failed) => {
    image.onload = done;
    image.onerror = failed;
    image.src = url;
  });

/** An SVG text as a file of either format; the PNG has `scale` times its size in pixels. */
export const drawing = async (text: string, format: "svg" | "png", scale = 2): Promise<Blob> => {
  const svg = new Blob([text], { type: "image/svg+xml" });
  if (format === "svg") return svg;
  const image = new Image();
  const canvas = document.createElement("canvas");
  const url = URL.createObjectURL(svg);
  await loaded(image, url);
  canvas.width = Math.round(image.width * scale);
  canvas.height = Math.round(image.height * scale);
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture"))), "image/png"),
  );
};
