/**
 * Loaded with the first store: most processes read none, and it costs 40 ms of their start.
 * Bundlers take jks-js-bundled.ts instead (`imports` in package.json).
 */
import { createRequire } from "node:module";

export function loadJks(): typeof import("jks-js") {
  return createRequire(import.meta.url)("jks-js");
}
