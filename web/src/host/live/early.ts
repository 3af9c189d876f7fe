/* Stands at the end of data.js: what the page opens with is on its way before the page's script has
   come. */

import { askEarly } from "../../dom/early";
import { pageLanguage } from "../../i18n/language";
import { firstExample, pageData } from "../../tabs/page";
import { linked, opensWith } from "./site";

const { address, words } = pageData();
// which is translated, or asked for, later
const example = linked() ? undefined : firstExample(opensWith());
for (const href of [example && `${address}${example.id}.json`, words?.[pageLanguage()]])
  if (href) askEarly(href);
