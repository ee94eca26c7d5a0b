/**
 * RxJS, loaded by the first stream that is used: it takes half of the time and memory of loading
 * the client, and programs that only make calls do without it. Node.js has one instance of it,
 * however it is loaded. Bundlers take rxjs-bundled.ts instead (`imports` in package.json).
 */
import { createRequire } from "node:module";

export function loadRxjs(): typeof import("rxjs") {
  // Bundles of CommonJS have no address of their module, and bundles are without node_modules.
  const url: string | undefined = import.meta.url;
  try {
    return createRequire(url)("rxjs") as typeof import("rxjs");
  } catch (cause) {
    throw new Error(
      'RxJS is not part of this program. In a bundle: import "@zooid/client/rxjs", or bundle with the condition "module"; else: npm install rxjs',
      { cause },
    );
  }
}
