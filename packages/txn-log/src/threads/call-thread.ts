import { MessageChannel, type MessagePort, type TransferListItem, type Worker } from "node:worker_threads";
import { StoreError, type StoreErrorDetail } from "../store/store-error.ts";
import { HEAP_MIB_MIN, startWorker } from "./start-worker.ts";

/** A thread that does one thing after another, and answers each. */
export class CallThread<Call, Answer> {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #exited: Promise<void>;
  readonly #waiting: { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void }[] = [];
  #dead: Error | undefined;

  /**
   * @param name of its file, with its folder
   * @param data reaches the thread in {@link CallThreadData}
   */
  constructor(name: string, data: unknown) {
    const channel = new MessageChannel();
    this.#port = channel.port1;
    this.#worker = startWorker({
      name,
      data: { data, port: channel.port2 },
      transfer: [channel.port2],
      heapMib: HEAP_MIB_MIN,
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#exited = promise;
    this.#worker.once("exit", () => resolve());
    this.#worker.on("error", (cause) =>
      this.#end(new StoreError({ code: "DEFECT", reason: `the ${name} ended: ${String(cause)}` }, { cause })),
    );
    this.#worker.once("exit", (status) => {
      if (this.#dead !== undefined) return;
      this.#end(new StoreError({ code: "DEFECT", reason: `the ${name} ended with status ${status}` }));
    });
    this.#port.on("message", (answer: CallAnswer<Answer>) => {
      const waiting = this.#waiting.shift();
      if (answer.kind === "done") waiting?.resolve(answer.answer);
      else waiting?.reject(new StoreError(answer.detail));
    });
  }

  /** Answers come in the order of the calls. A call that fails says nothing about the next one. */
  call(call: Call, transfer: readonly TransferListItem[] = []): Promise<Answer> {
    if (this.#dead !== undefined) return Promise.reject(this.#dead);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#waiting.push({ resolve, reject });
    this.#port.postMessage({ call }, transfer);
    return promise;
  }

  /**
   * Ends the thread after what it was called for. What is called from now on fails with this error.
   */
  async close(error: Error): Promise<void> {
    if (this.#dead === undefined) {
      this.#dead = error;
      this.#port.postMessage({ call: undefined });
    }
    await this.#exited;
    this.#end(error);
    this.#port.close();
  }

  #end(error: Error): void {
    this.#dead ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

/** The data that such a thread is started with. */
export interface CallThreadData<Data> {
  readonly data: Data;
  readonly port: MessagePort;
}

/** A message to the thread; without a call it ends. */
export interface CallMessage<Call> {
  readonly call: Call | undefined;
}

export type CallAnswer<Answer> =
  | { readonly kind: "done"; readonly answer: Answer }
  | { readonly kind: "failed"; readonly detail: StoreErrorDetail };
