import { getPriority, setPriority } from "node:os";

/**
 * Gives the calling thread this niceness, unless it has a higher one already. A server that was
 * started with a higher one keeps that: without privileges, to lower it again is refused by the
 * system.
 */
export function lowerPriority(niceness: number): void {
  if (getPriority(0) < niceness) setPriority(0, niceness);
}
