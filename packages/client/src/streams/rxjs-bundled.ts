/**
 * RxJS as part of a bundle. Bundlers set the condition `module`, by which package.json gives them
 * this file in the place of rxjs-lazy.ts: they do not see that the lazy form loads RxJS.
 */
import * as rxjs from "rxjs";

export function loadRxjs(): typeof import("rxjs") {
  return rxjs;
}
