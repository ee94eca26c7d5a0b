import type { HeapProfiler } from "node:inspector";
import { connect, type Socket } from "node:net";
import { relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { text, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { OpCode } from "@zooid/model";
import { connectRequest, create, read, request, setData } from "@zooid/wire/testing/raw-client";
import { heapProfileOf } from "./heap-sampler.ts";

/**
 * Counts what a request allocates: a server in this thread, pipelined getData or setData of 1 KiB
 * from another one, every allocation sampled, collected ones too. Prints bytes a request by the
 * place that allocated them.
 *
 *     npm run tool -- perf-allocations [--writes] [--requests N]
 *
 * The default is ten million reads, or one million writes. `--base MODULE` measures another build's
 * server: the path of its `packages/server/dist/index.js`.
 */
const WINDOW = 1000;
const NODE_BYTES = 1024;

if (isMainThread) await measure();
else await send(workerData as Load);

async function measure(): Promise<void> {
  const values = toolOptions({ writes: false, requests: whole(undefined, 1), base: text });
  const { writes } = values;
  const requests = values.requests ?? (writes ? 1_000_000 : 10_000_000);
  const { startServer }: typeof import("@zooid/embedded-server") = await import(
    values.base === undefined ? "@zooid/embedded-server" : pathToFileURL(resolve(values.base)).href
  );
  await using server = await startServer({ port: 0 });
  await run({ port: server.port, requests: 200_000, writes });
  const before = performance.now();
  const profile = await heapProfileOf(() => run({ port: server.port, requests, writes }));
  const seconds = (performance.now() - before) / 1000;
  const sites = new Map<string, number>();
  collect(profile, sites);
  const rows = [...sites].sort(([, a], [, b]) => b - a);
  console.log(
    `${requests} ${writes ? "writes" : "reads"} in ${seconds.toFixed(1)} s; bytes allocated a request, by place:`,
  );
  for (const [site, bytes] of rows.slice(0, 15)) console.log(`${(bytes / requests).toFixed(2).padStart(9)}  ${site}`);
  const ours = rows.filter(([site]) => !site.startsWith("node:") && !site.startsWith("("));
  const total = ours.reduce((sum, [, bytes]) => sum + bytes, 0);
  console.log(`${(total / requests).toFixed(2).padStart(9)}  all places of ours together`);
}

function collect(node: HeapProfiler.SamplingHeapProfileNode, sites: Map<string, number>): void {
  const { functionName, url, lineNumber } = node.callFrame;
  const file = url.startsWith("file:") ? relative(process.cwd(), fileURLToPath(url)) : url === "" ? "(native)" : url;
  const site = `${file}:${lineNumber + 1} ${functionName}`;
  if (node.selfSize > 0) sites.set(site, (sites.get(site) ?? 0) + node.selfSize);
  for (const child of node.children) collect(child, sites);
}

interface Load {
  readonly port: number;
  readonly requests: number;
  readonly writes: boolean;
}

/** Lets another thread send requests; resolves when it has its answers. */
async function run(load: Load): Promise<void> {
  const worker = new Worker(new URL(import.meta.url), { workerData: load });
  await new Promise<void>((done, reject) => {
    worker.once("error", reject);
    worker.once("exit", () => done());
  });
}

async function send({ port, requests, writes }: Load): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await answer(socket, connectRequest(), 41);
  // It exists already in the second run; the refusal is as good an answer.
  await answer(socket, request(1, OpCode.CREATE, create("/node", Buffer.alloc(NODE_BYTES, 1))), 16);
  const one = writes
    ? request(2, OpCode.SET_DATA, setData("/node", "w".repeat(NODE_BYTES)))
    : request(2, OpCode.GET_DATA, read("/node"));
  const replyBytes = 4 + 16 + 68 + (writes ? 0 : 4 + NODE_BYTES);
  const window = Buffer.concat(Array.from({ length: WINDOW }, () => one));
  await new Promise<void>((resolve) => {
    let received = 0;
    let answered = 0;
    let asked = 2 * WINDOW;
    socket.on("data", (chunk: Buffer) => {
      received += chunk.length;
      while (received - answered >= WINDOW * replyBytes) {
        answered += WINDOW * replyBytes;
        if (asked >= requests) {
          if (answered >= asked * replyBytes) {
            socket.destroy();
            resolve();
          }
        } else {
          asked += WINDOW;
          socket.write(window);
        }
      }
    });
    socket.write(window);
    socket.write(window);
  });
}

function answer(socket: Socket, bytes: Buffer, bytesMin: number): Promise<void> {
  return new Promise((resolve) => {
    let received = 0;
    const hear = (chunk: Buffer): void => {
      received += chunk.length;
      if (received < bytesMin) return;
      socket.off("data", hear);
      resolve();
    };
    socket.on("data", hear);
    socket.write(bytes);
  });
}
