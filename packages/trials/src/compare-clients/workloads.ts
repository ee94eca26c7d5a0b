import type { LoopOptions } from "./closed-loop.ts";
import type { MeasuredClient } from "./measured-client.ts";

export interface Workload {
  readonly name: string;
  readonly window: number;
  readonly operation: "getData" | "setData" | "create";
}

export const WORKLOADS: readonly Workload[] = [
  { name: "getData-1", operation: "getData", window: 1 },
  { name: "getData-16", operation: "getData", window: 16 },
  { name: "getData-256", operation: "getData", window: 256 },
  { name: "setData-256", operation: "setData", window: 256 },
  { name: "create-256", operation: "create", window: 256 },
];

const NODE_COUNT = 100;
const NODE_BYTES = 1024;
const CREATED_BYTES = 100;

/** Makes the nodes that are read and written. */
export async function prepareNodes(client: MeasuredClient, root: string): Promise<void> {
  const data = Buffer.alloc(NODE_BYTES, 1);
  const create = (path: string): Promise<void> =>
    new Promise((made, failed) => {
      client.create(path, data, (error) => (error === undefined || error === null ? made() : failed(error)));
    });
  await create(root);
  await Promise.all(Array.from({ length: NODE_COUNT }, (_, i) => create(nodePath(root, i))));
}

/** The parameters of a workload for a loop. Created nodes have names unique to the round. */
export function loopOf(
  client: MeasuredClient,
  { operation, window }: Workload,
  root: string,
): Omit<LoopOptions, "limit"> {
  // Paths are made beforehand: they are the caller's cost, not the client's.
  const paths = Array.from({ length: NODE_COUNT }, (_, i) => nodePath(root, i));
  const path = (index: number): string => paths[index % NODE_COUNT] ?? root;
  switch (operation) {
    case "getData":
      return { window, dataBytes: NODE_BYTES, ask: (index, done) => client.get(path(index), done) };
    case "setData": {
      const data = Buffer.alloc(NODE_BYTES, 2);
      return { window, ask: (index, done) => client.set(path(index), data, done) };
    }
    case "create": {
      const data = Buffer.alloc(CREATED_BYTES, 3);
      const prefix = `${root}/made-${process.hrtime.bigint().toString(36)}-`;
      return { window, ask: (index, done) => client.create(prefix + index, data, done) };
    }
  }
}

function nodePath(root: string, index: number): string {
  return `${root}/node-${index}`;
}
