/** The stream of changes of the whole tree; all parts of the page share it. */
import { PREFIX } from "./place.ts";

export interface Change {
  readonly type: "created" | "deleted" | "data-changed" | "children-changed";
  readonly path: string;
  readonly zxid: string | null;
  readonly atMs: number;
}

export type LiveState = "connecting" | "live" | "lost";

export interface LiveListener {
  changes?(changes: readonly Change[], droppedCount: number): void;
  /** Changes may have been missed: read again. */
  resync?(): void;
  state?(state: LiveState): void;
}

const RETRY_MS = 2_000;

class LiveStream {
  readonly #listeners = new Set<LiveListener>();
  #source: EventSource | undefined;
  #state: LiveState = "connecting";
  #hasBeenLive = false;

  get state(): LiveState {
    return this.#state;
  }

  listen(listener: LiveListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Opens the stream, again after a login. */
  open(): void {
    this.#source?.close();
    const source = new EventSource(`${PREFIX}/api/v1/events?path=%2F`);
    this.#source = source;
    source.addEventListener("ready", () => {
      this.#change("live");
      if (this.#hasBeenLive) for (const listener of this.#listeners) listener.resync?.();
      this.#hasBeenLive = true;
    });
    source.addEventListener("state", (event) => {
      const { state } = JSON.parse(event.data) as { state: string };
      if (state !== "connected" && state !== "read-only") this.#change("lost");
      else if (this.#hasBeenLive) this.#change("live");
    });
    source.addEventListener("resync", () => {
      for (const listener of this.#listeners) listener.resync?.();
    });
    source.addEventListener("changes", (event) => {
      const { changes, droppedCount } = JSON.parse(event.data) as {
        changes: Omit<Change, "atMs">[];
        droppedCount: number;
      };
      const atMs = Date.now();
      const timed = changes.map((change) => ({ ...change, atMs }));
      for (const listener of this.#listeners) listener.changes?.(timed, droppedCount);
      if (droppedCount > 0) for (const listener of this.#listeners) listener.resync?.();
    });
    source.onerror = () => {
      this.#change("lost");
      // A refused stream is not opened again by the browser.
      if (source.readyState === EventSource.CLOSED && this.#source === source) {
        setTimeout(() => this.#source === source && this.open(), RETRY_MS);
      }
    };
  }

  #change(state: LiveState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const listener of this.#listeners) listener.state?.(state);
  }
}

export const live = new LiveStream();
