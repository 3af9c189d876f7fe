/* Models of the hub on Gradio's page: a button at the end of the directions, and the list behind
   it. */

import { hubDialog } from "../../components/hub/hub";
import { el } from "../../dom/element";
import { t } from "../../i18n/words";
import type { HubList, HubServer } from "../../protocol/hub";
import { type Answer, type Refusal, refused } from "../../protocol/server";
import { pageData } from "../../tabs/page";
import { setDirectionIn } from "./direction";

// ms between two looks while the list is open or something is fetched for this page
const AGAIN = 1000;

class HubPage {
  private list: HubList | null = null;
  private refused = "";
  /** What this page asked for; it is chosen as soon as it is here. */
  private wanted = "";
  private timer = 0;
  private readonly page = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  private readonly hidden = el("style");
  private readonly dialog = hubDialog(this.props());
  private readonly opener = el("button", {
    type: "button",
    class: "hub-open",
    translate: "no",
    "aria-haspopup": "dialog",
    on: { click: () => this.open() },
  });

  constructor(
    private readonly server: HubServer,
    private readonly names: readonly string[],
  ) {
    document.head.append(this.hidden);
    document.body.append(this.dialog.node);
    document.querySelector("#direction .wrap:has(label)")?.append(this.opener);
    addEventListener("explorer-language", () => this.draw());
    this.draw();
    void this.look();
  }

  private props() {
    return {
      list: this.list,
      refused: this.refused,
      onFetch: (name: string) => {
        this.wanted = name;
        void this.ask(this.server.hub_fetch({ name, page: this.page }));
      },
      onStop: (name: string) => {
        if (this.wanted === name) this.wanted = "";
        void this.ask(this.server.hub_stop({ name, page: this.page }));
      },
      onUse: (name: string) => this.use(name),
    };
  }
  private open(): void {
    this.refused = "";
    this.draw();
    this.dialog.node.showModal();
    void this.look();
  }
  private use(name: string): void {
    this.wanted = "";
    this.dialog.node.close();
    setDirectionIn("direction", name);
  }
  private async ask(asked: Promise<Answer<HubList>>): Promise<void> {
    const lost = () => ({ error: t("No answer from the server. Please try again.") });
    const answer = await asked.catch(lost);
    this.refused = refused(answer) ? answer.error : "";
    if (refused(answer)) this.wanted = "";
    else this.list = answer as HubList;
    this.draw();
    void this.later();
  }
  private async look(): Promise<void> {
    const looks = this.dialog.node.open;
    const lost = (): Refusal => ({ error: "lost" }); // it is asked again
    const answer = await this.server.hub_list({ looks }).catch(lost);
    if (!refused(answer)) this.take(answer);
    void this.later();
  }
  private take(list: HubList): void {
    this.list = list;
    const model = list.models.find(({ name }) => name === this.wanted);
    if (model?.state === "") this.wanted = ""; // stopped or refused; the list says why
    this.draw();
    if (model?.state === "here") this.use(model.name);
  }
  private later(): void {
    clearTimeout(this.timer);
    if (!this.dialog.node.open && !this.wanted) return;
    this.timer = window.setTimeout(() => void this.look(), AGAIN);
  }
  private draw(): void {
    this.opener.textContent = this.opener.title = t("More models");
    this.dialog.update(this.props());
    const here = new Set(this.list?.models.filter(({ state }) => state === "here").map(nameOf));
    const lacking = this.names.filter((name) => !here.has(name));
    const inputs = lacking.map((name) => `input[value="${CSS.escape(name)}"]`).join();
    this.hidden.textContent = inputs
      ? `:is(#direction, .segments) label:has(:is(${inputs})):not(:has(:checked)) { display: none; }`
      : "";
  }
}
const nameOf = ({ name }: { name: string }): string => name;

/** Offer the models of the hub, where the server does. */
export const offerHub = (server: Partial<HubServer> | null): void => {
  const { hub } = pageData();
  if (server?.hub_list && hub?.length) new HubPage(server as HubServer, hub);
};
