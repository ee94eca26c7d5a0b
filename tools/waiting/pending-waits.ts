import { inspect } from "node:util";

/** How much of a value a failure shows. */
const SHOWN_LENGTH = 300;
/** Time after its last question at which a wait that asks repeatedly counts as ended. */
const ASKED_MS = 1000;

interface Wait {
  readonly name: string;
  readonly place: string;
  asked: { readonly atMs: number; readonly value: unknown } | undefined;
}

export interface PendingWait {
  /** For a wait that asks again and again. @param value or the promise of it */
  saw(value: unknown): void;
  end(): void;
}

/**
 * The waits of the running tests, by the functions that report them, for the reason of a failure.
 */
export class PendingWaits {
  readonly #waits = new Set<Wait>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * @param stack of an error that was made where the wait begins: one that no test begins is not
   *   the test's
   */
  begin(name: string, stack: string | undefined): PendingWait {
    const place = placeIn(stack);
    const wait: Wait = { name, place: place ?? "", asked: undefined };
    if (place !== undefined) this.#waits.add(wait);
    return {
      saw: (value) => {
        wait.asked = { atMs: this.#nowMs(), value };
        const answered = (answer: unknown): void => {
          wait.asked = { atMs: this.#nowMs(), value: answer };
        };
        if (value instanceof Promise) value.then(answered, () => {});
      },
      end: () => void this.#waits.delete(wait),
    };
  }

  describe(): readonly string[] {
    const oldestMs = this.#nowMs() - ASKED_MS;
    return [...this.#waits]
      .filter(({ asked }) => asked === undefined || asked.atMs >= oldestMs)
      .map(({ name, place, asked }) => `${name} at ${place}${asked === undefined ? "" : lastSeen(asked.value)}`);
  }

  /** Forgets the waits that one test has left behind: they are not the next one's. */
  clear(): void {
    this.#waits.clear();
  }
}

function lastSeen(value: unknown): string {
  return `, last seen ${inspect(value, { breakLength: Number.POSITIVE_INFINITY }).slice(0, SHOWN_LENGTH)}`;
}

/** The first line of a test, or of what tests share. */
function placeIn(stack = ""): string | undefined {
  const line = stack.split("\n").find((each) => /\.test\.ts|\/testing\//.test(each)) ?? "";
  const [, file, number] = /(\/[^?:\s]+)(?:\?[^:\s]*)?:(\d+)/.exec(line.replace("file://", "")) ?? [];
  return file === undefined ? undefined : `${file}:${number}`;
}
