import { mkdtempDisposableSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { decimal, someOf, toolOptions } from "@zooid/conformance/internal/tool-options";
import { OpCode } from "@zooid/model";
import { connectRequest, create, read, request } from "@zooid/wire/testing/raw-client";
import { memoryMib } from "../figures/process-memory.ts";

/**
 * A million znodes of 100 bytes: how fast they are made, what the server then holds in memory, how
 * long a read takes at worst meanwhile and while the state is written, and how long a restart
 * takes. `--nodes N --only zooid|apache --data DIR --idle SECONDS`.
 */
const values = toolOptions({ nodes: 1_000_000, only: someOf(["apache", "zooid"]), data: tmpdir(), idle: decimal(40) });
const { nodes: NODES } = values;
const IDLE_MS = values.idle * 1000;
const CONNECTIONS = 16;
const WINDOW = 64;
const DATA_BYTES = 100;
const PARENTS = 100;
const PROBE_MS = 5;
const SEQUENTIAL = 2;

async function measure(kind: "apache" | "zooid"): Promise<void> {
  using folder = mkdtempDisposableSync(join(values.data, `million-${kind}-`));
  const options = kind === "apache" ? { jars: fetchApacheJars(), heap: "4g" } : {};
  await using server = new ServerProcess({ kind, folder: folder.path, ...options });
  await server.start();
  await loadBeside({ port: server.port, connections: 1, count: PARENTS, parents: 0 });
  const probe = new ReadProbe(server.port);
  await probe.start();
  const startMs = performance.now();
  await loadBeside({ port: server.port, connections: CONNECTIONS, count: NODES, parents: PARENTS });
  const loadMs = performance.now() - startMs;
  const worstLoading = probe.takeWorst();
  const loadedRss = memoryMib(server.pid);
  await delay(IDLE_MS);
  const worstAfter = probe.takeWorst();
  const idleRss = memoryMib(server.pid);
  const peak = memoryMib(server.pid, "VmHWM");
  probe.stop();
  await server.kill();
  const restartMs = performance.now();
  await server.start();
  const restarted = performance.now() - restartMs;
  console.log(
    [
      kind.padEnd(7),
      `${Math.round(NODES / (loadMs / 1000))} creates/s`,
      `worst read ${worstLoading.toFixed(1)} ms while loading, ${worstAfter.toFixed(1)} ms in the ${IDLE_MS / 1000} s after`,
      `resident ${loadedRss} MiB loaded, ${idleRss} MiB later, ${peak} MiB peak, ${memoryMib(server.pid)} MiB after a restart`,
      `restart to serving ${(restarted / 1000).toFixed(2)} s`,
    ].join("; "),
  );
}

interface Load {
  readonly port: number;
  readonly connections: number;
  readonly count: number;
  /** Number of parents below which nodes are created in turn; 0 creates the parents. */
  readonly parents: number;
}

/** Loads from another thread, so that what is measured here does not wait for it. */
async function loadBeside(what: Load): Promise<void> {
  const worker = new Worker(new URL(import.meta.url), { workerData: what });
  await new Promise<void>((done, fail) => {
    worker.once("error", fail);
    worker.once("exit", () => done());
  });
}

/**
 * Makes nodes over some connections, each with a window of requests in flight, and waits for every
 * answer.
 */
async function load({ port, connections, count, parents }: Load): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(connections, count) }, async () => {
      const socket = await openSession(port);
      const nextRequest = (): Buffer => {
        const i = next++;
        const parent = parents === 0 ? "" : `/p-${String(i % parents).padStart(10, "0")}`;
        const path = parents === 0 ? "/p-" : `${parent}/n-`;
        return request(i + 1, OpCode.CREATE, create(path, Buffer.alloc(DATA_BYTES, 1), SEQUENTIAL));
      };
      await new Promise<void>((done, fail) => {
        let inFlight = 0;
        let held = Buffer.alloc(0);
        const fill = (): void => {
          const requests: Buffer[] = [];
          while (inFlight < WINDOW && next < count) {
            requests.push(nextRequest());
            inFlight++;
          }
          if (requests.length > 0) socket.write(Buffer.concat(requests));
          else if (inFlight === 0) done();
        };
        socket.on("error", fail);
        socket.on("data", (chunk: Buffer) => {
          held = Buffer.concat([held, chunk]);
          let at = 0;
          while (held.length - at >= 4 && held.length - at >= 4 + held.readInt32BE(at)) {
            const code = held.readInt32BE(at + 16);
            if (code !== 0) fail(new Error(`a create was refused with ${code}`));
            at += 4 + held.readInt32BE(at);
            inFlight--;
          }
          held = held.subarray(at);
          fill();
        });
        fill();
      });
      socket.destroy();
    }),
  );
}

async function openSession(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await new Promise<void>((done, fail) => {
    socket.once("error", fail);
    socket.once("data", () => done());
    socket.write(connectRequest());
  });
  return socket;
}

/** Reads one node again and again from a connection of its own and keeps the longest answer. */
class ReadProbe {
  readonly #port: number;
  #worstMs = 0;
  #isStopped = false;
  #socket: Socket | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  async start(): Promise<void> {
    this.#socket = await openSession(this.#port);
    void this.#probe(this.#socket);
  }

  takeWorst(): number {
    const worst = this.#worstMs;
    this.#worstMs = 0;
    return worst;
  }

  stop(): void {
    this.#isStopped = true;
    this.#socket?.destroy();
  }

  async #probe(socket: Socket): Promise<void> {
    const getData = request(2, OpCode.GET_DATA, read("/p-0000000000"));
    let answered = (): void => {};
    socket.on("data", () => answered());
    socket.on("close", () => answered());
    while (!this.#isStopped) {
      const sentMs = performance.now();
      const answer = new Promise<void>((done) => {
        answered = done;
      });
      socket.write(getData);
      await answer;
      this.#worstMs = Math.max(this.#worstMs, performance.now() - sentMs);
      await delay(PROBE_MS);
    }
  }
}

if (isMainThread) {
  for (const kind of values.only) await measure(kind);
} else {
  await load(workerData as Load);
}
