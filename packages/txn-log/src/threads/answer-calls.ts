import type { MessagePort, TransferListItem } from "node:worker_threads";
import { storeErrorOf } from "../disk/database.ts";
import type { CallAnswer, CallMessage } from "./call-thread.ts";

/** The thread's end of a `CallThread`. */
export function answerCalls<Call, Answer>(
  port: MessagePort,
  parts: {
    /** Named in errors of the system's. */
    readonly file: string;
    readonly answer: (call: Call) => Answer;
    readonly transfer: (answer: Answer) => readonly TransferListItem[];
    readonly close: () => void;
  },
): void {
  port.on("message", ({ call }: CallMessage<Call>) => {
    if (call === undefined) {
      parts.close();
      port.close();
      return;
    }
    try {
      const answer = parts.answer(call);
      port.postMessage({ kind: "done", answer } satisfies CallAnswer<Answer>, parts.transfer(answer));
    } catch (cause) {
      port.postMessage({ kind: "failed", detail: storeErrorOf(cause, parts.file).detail } satisfies CallAnswer<Answer>);
    }
  });
}
