/**
 * Loaded with the first store: most processes read none, and it costs 20 ms of their start.
 * Bundlers take node-forge-bundled.ts instead (`imports` in package.json).
 */
import { createRequire } from "node:module";

export function loadForge(): typeof import("node-forge") {
  return createRequire(import.meta.url)("node-forge");
}
