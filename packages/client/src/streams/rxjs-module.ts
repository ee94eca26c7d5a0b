/**
 * RxJS, loaded by the first stream that is used: it takes half of the time and memory of loading
 * the client, and programs that only make calls do without it. Node.js has one instance of it,
 * however it is loaded.
 */
import { createRequire } from "node:module";

export type RxjsModule = typeof import("rxjs");

let loaded: RxjsModule | undefined;

export function rxjs(): RxjsModule {
  loaded ??= createRequire(import.meta.url)("rxjs") as RxjsModule;
  return loaded;
}

/** Takes the module from its importer: for bundlers, which do not see the lazy import. */
export function provideRxjs(module: RxjsModule): void {
  loaded = module;
}
