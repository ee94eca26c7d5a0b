/** Called once for each request: with what went wrong, or with how many bytes of data came back. */
export type Done = (error: unknown, dataBytes?: number) => void;

/** One client on one connection, asked in the fastest way that its documentation offers. */
export interface MeasuredClient {
  get(path: string, done: Done): void;
  set(path: string, data: Buffer, done: Done): void;
  create(path: string, data: Buffer, done: Done): void;
  /** `get` with a limit of time for each request, where the client has such a thing. */
  getWithin?(path: string, timeoutMs: number, done: Done): void;
  close(): Promise<void>;
}

export const CLIENT_NAMES = ["zooid", "node-zookeeper-client", "zookeeper"] as const;
export type ClientName = (typeof CLIENT_NAMES)[number];
