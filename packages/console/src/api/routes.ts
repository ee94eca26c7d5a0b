import { ENSEMBLE_ROUTES } from "./ensemble-routes.ts";
import { HISTORY_ROUTES } from "./history-routes.ts";
import { HOT_SPOT_ROUTES } from "./hot-spot-routes.ts";
import { MEMBER_ROUTES } from "./member-routes.ts";
import { NODE_FACTS_ROUTES } from "./node-facts-routes.ts";
import { NODE_ROUTES } from "./node-routes.ts";
import { OPERATOR_ROUTES } from "./operator-routes.ts";
import { RECIPE_ROUTES } from "./recipe-routes.ts";
import type { Route } from "./route.ts";
import { SUBTREE_ROUTES } from "./subtree-routes.ts";

/** All operations that work with the user's ZooKeeper session. */
export const ROUTES: readonly Route[] = [
  ...NODE_ROUTES,
  ...NODE_FACTS_ROUTES,
  ...HISTORY_ROUTES,
  ...ENSEMBLE_ROUTES,
  ...MEMBER_ROUTES,
  ...OPERATOR_ROUTES,
  ...RECIPE_ROUTES,
  ...HOT_SPOT_ROUTES,
  ...SUBTREE_ROUTES,
];
