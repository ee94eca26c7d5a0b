/** Part of a bundle: bundlers do not see that jks-js-lazy.ts loads it. */
import library from "jks-js";

export function loadJks(): typeof import("jks-js") {
  return library;
}
