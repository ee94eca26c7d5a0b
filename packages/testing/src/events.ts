import type { ClientState } from "@zooid/client";

/**
 * The state of a server. `looking`: it takes part in no ensemble at present, and serves no client.
 */
export type ServerStatus = "down" | "paused" | "looking" | "following" | "observing" | "leading";

/** Something that happened in a {@link TestEnsemble}, at a virtual time. */
export type EnsembleEvent = { readonly atMs: number } & (
  | { readonly kind: "server"; readonly server: number; readonly status: ServerStatus }
  | { readonly kind: "client"; readonly client: string; readonly state: ClientState["kind"] }
  | { readonly kind: "fault"; readonly fault: string }
);

/** An event as a line of a transcript. */
export function formatEvent(event: EnsembleEvent): string {
  const time = `${event.atMs.toFixed(1).padStart(10)} ms `;
  switch (event.kind) {
    case "server":
      return `${time} server ${event.server} is ${event.status}`;
    case "client":
      return `${time} ${event.client} is ${event.state}`;
    case "fault":
      return `${time} ${event.fault}`;
  }
}
