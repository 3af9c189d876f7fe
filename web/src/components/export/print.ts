/* A picture as PDF: the browser prints it on a page of its size, with real letters and lines, in
   any script. */

import { el } from "../../dom/element";

const KEPT = 60_000; // ms that a browser has to print

/**
 * A page that holds the picture alone; `width` and `height` in CSS pixels, `name` is offered as the
 * file's.
 */
export const printable = (svg: string, name: string, width: number, height: number): string => {
  const title = name.replace(/[<&]/g, "");
  // a pixel more: rounding must not make a second page
  const size = `${Math.ceil(width)}px ${Math.ceil(height) + 1}px`;
  return (
    `<!doctype html><meta charset="utf-8"><title>${title}</title>` +
    `<style>@page{size:${size};margin:0}body{margin:0}svg{display:block}</style>${svg}`
  );
};

/** Open the browser's print dialogue for a page; its "Save as PDF" writes the file. */
export const printPage = async (html: string): Promise<void> => {
  const frame = el("iframe", { class: "print-frame", "aria-hidden": "true", tabindex: -1 });
  frame.srcdoc = html;
  document.body.append(frame);
  await new Promise((done) => frame.addEventListener("load", done, { once: true }));
  const title = document.title;
  document.title = frame.contentDocument!.title; // some browsers name the file after the page
  frame.contentWindow!.print();
  document.title = title;
  setTimeout(() => frame.remove(), KEPT);
};
