/** Part of a bundle: bundlers do not see that node-forge-lazy.ts loads it. */
import library from "node-forge";

export function loadForge(): typeof import("node-forge") {
  return library;
}
