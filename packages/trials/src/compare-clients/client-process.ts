import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Order, OrderResult } from "./client-worker.ts";
import type { LoopResult } from "./closed-loop.ts";
import type { ClientName } from "./measured-client.ts";
import type { Workload } from "./workloads.ts";

/** The parent's end of a `client-worker`. */
export class ClientProcess {
  readonly name: ClientName;
  readonly #process: ChildProcess;

  private constructor(name: ClientName) {
    this.name = name;
    this.#process = fork(join(import.meta.dirname, "client-worker.ts"), {
      // Built code, as users have it; and nothing that the parent was started with.
      execArgv: [],
    });
  }

  /** @param folder of the installed client; unused for ours */
  static async start(
    name: ClientName,
    { server, root, folder }: { readonly server: string; readonly root: string; readonly folder: string },
  ): Promise<ClientProcess> {
    const started = new ClientProcess(name);
    await started.#order({ kind: "connect", name, server, root, folder });
    return started;
  }

  async measure(workload: Workload, milliseconds: number): Promise<LoopResult> {
    const answer = await this.#order({ kind: "measure", workload, milliseconds });
    if (answer.kind !== "measured") throw new Error(`${this.name} answered ${answer.kind}`);
    return answer.result;
  }

  async heapBytes(workload: Workload, milliseconds: number): Promise<number> {
    const answer = await this.#order({ kind: "heap", workload, milliseconds });
    if (answer.kind !== "heap") throw new Error(`${this.name} answered ${answer.kind}`);
    return answer.bytesPerOperation;
  }

  /**
   * Number of timers that `requests` pipelined reads make; undefined where the client does not have
   * the limit that is requested.
   */
  async timers(requests: number, timeoutMs?: number): Promise<number | undefined> {
    const answer = await this.#order({ kind: "timers", requests, timeoutMs });
    if (answer.kind !== "timers") throw new Error(`${this.name} answered ${answer.kind}`);
    return answer.count;
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    await this.#order({ kind: "close" });
    const ended = once(this.#process, "exit");
    this.#process.disconnect();
    await ended;
  }

  async #order(order: Order): Promise<OrderResult> {
    const answer = new Promise<OrderResult>((answered, failed) => {
      const exit = (): void => failed(new Error(`the process of ${this.name} has ended`));
      this.#process.once("exit", exit);
      this.#process.once("message", (message: OrderResult) => {
        this.#process.off("exit", exit);
        answered(message);
      });
    });
    this.#process.send(order);
    const given = await answer;
    if (given.kind === "failed") throw new Error(`${this.name}: ${given.reason}`);
    return given;
  }
}
