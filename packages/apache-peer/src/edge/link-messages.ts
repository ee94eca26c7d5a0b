import type { LinkOptions, LinkStatus } from "./link.ts";
import type { TouchColumns } from "./touch-columns.ts";

/** The data that the thread of a link is started with. */
export interface LinkStart {
  readonly link: LinkOptions;
  readonly epochFile: string | undefined;
  readonly spoolDirectory: string;
  readonly spoolMemoryBytesMax: number;
}

export type ToLink =
  /** The consumer wants the next batch; at most one is asked for at a time. */
  | { readonly kind: "pull" }
  | { readonly kind: "touch"; readonly touches: TouchColumns }
  | { readonly kind: "sync" }
  | { readonly kind: "close" };

export type FromLink =
  /** Records, see `spool-record.ts`. */
  | { readonly kind: "batch"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "status"; readonly status: LinkStatus };
