/* Beside the tiles: the roles that may be looked for, and what the tiles are sorted by. */

import { el, offer } from "../../dom/element";
import { explained } from "../../dom/tip";
import { t } from "../../i18n/words";
import type { Role } from "../../protocol/messages";
import type { ExplorerContext } from "../../state/context";
import type { View } from "../../state/view";
import { ROLES, roleName } from "../../trace/names";
import { inRoleRow } from "../../trace/role-row";
import { roleBar, strongestHead } from "../../trace/roles";
import { sorts } from "./order";

type Needs = Pick<ExplorerContext, "find" | "state" | "trace" | "set">;

/** Whoever looks for a role is shown the head that has it most, in a row in which it does that. */
const look = (x: Needs, role: Role | null): void => {
  const { kind } = x.state;
  const place = role && strongestHead(x.trace, kind, role);
  if (!place) return x.set({ role });
  const [layer, head] = place;
  x.set({ layer, head, hover: null, role }, () =>
    x.set(inRoleRow(x.trace, kind, place, role, x.state)),
  );
};

const roleButton = (x: Needs, value: Role | null, name: string, count: number): HTMLElement => {
  const on = x.state.role === value;
  const chosen = on ? null : value;
  const click = () => look(x, chosen);
  const button = el(
    "button",
    { type: "button", "aria-pressed": on, on: { click } },
    name,
    el("span", { text: String(count) }),
  );
  button.setAttribute("aria-label", t("{name}, {n} heads", { name, n: count }));
  return value ? explained(button, roleBar(value)) : button;
};

/** Gives what paints them. */
export const makeFilters = (x: Needs): (() => void) => {
  const roles = x.find(".roles");
  const sort = x.find<HTMLSelectElement>(".sort");
  sort.addEventListener("change", () => x.set({ sort: sort.value as View["sort"] }));
  return () => {
    const { kind } = x.state;
    const found = x.trace.heads?.[kind].role ?? [];
    const count = (role: Role) => found.filter((each) => each === role).length;
    const all = x.trace.maps[kind].layers * x.trace.maps[kind].heads;
    roles.replaceChildren(
      roleButton(x, null, t("All"), all),
      ...ROLES.filter(count).map((role) => roleButton(x, role, roleName(role), count(role))),
    );
    offer(sort, sorts(), x.state.sort);
  };
};
