import { loadRxjs } from "#rxjs";

export type RxjsModule = typeof import("rxjs");

let loaded: RxjsModule | undefined;

/** RxJS: loaded with the first stream, or part of the bundle. */
export function rxjs(): RxjsModule {
  loaded ??= loadRxjs();
  return loaded;
}

/** Takes the module from its importer: for bundlers that do not set the condition `module`. */
export function provideRxjs(module: RxjsModule): void {
  loaded = module;
}
