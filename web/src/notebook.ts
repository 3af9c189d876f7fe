/* What a widget in a notebook loads for each cell: as little as can be. */

import { render } from "./host/notebook";

export default { render };
