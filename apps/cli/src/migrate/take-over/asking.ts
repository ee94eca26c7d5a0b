import { ActAsking } from "../acts.ts";
import type { Acts } from "./action.ts";
import type { Event } from "./event.ts";

/** Yields the acts of a take-over. */
export class Asking extends ActAsking<Acts, Event> {}
