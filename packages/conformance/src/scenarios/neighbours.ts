/**
 * Curator, kazoo and `@zooid/client` on the same paths: clients/curator/Neighbour.java and
 * clients/kazoo/neighbour.py are controlled by lines, and `close` closes what a command has opened
 * on a path.
 */
import { type Client, connect } from "@zooid/client";
import { RecipeError } from "@zooid/recipes";
import { filter, firstValueFrom, type Observable, timeout } from "rxjs";
import { CuratorPeer, PeerProcess } from "../servers/peer-process.ts";

const DEADLINE_MS = 20_000;

export interface Neighbours extends AsyncDisposable {
  readonly curator: PeerProcess;
  readonly kazoo: PeerProcess;
  readonly zk: Client;
}

/** @param args of the scenario's program: CLASSPATH PYTHON NEIGHBOUR.PY HOST:PORT */
export async function startNeighbours(args: readonly string[]): Promise<Neighbours> {
  const [classpath = "", python = "", program = "", address = ""] = args;
  const curator = new CuratorPeer(classpath, "Neighbour", address);
  const kazoo = new PeerProcess(python, [program, address]);
  say("curator", "connects", await curator.answer());
  say("kazoo", "connects", await kazoo.answer());
  const zk = await connect(address, { sessionTimeoutMs: 30_000 });
  return {
    curator,
    kazoo,
    zk,
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([curator.kill(), kazoo.kill()]);
      await zk.close();
    },
  };
}

export function say(who: string, what: string, answer: unknown): void {
  console.log(`${who.padEnd(7)} ${what}: ${answer}`);
}

/** Waits for a value. @returns it, or the error's code */
export async function first<T>(values$: Observable<T>, isIt: (value: T) => boolean): Promise<T | string> {
  return await orCode(firstValueFrom(values$.pipe(filter(isIt), timeout({ first: DEADLINE_MS }))));
}

/** @returns the value, or the code of the recipe's error */
export async function orCode<T>(promise: Promise<T>): Promise<T | string> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof RecipeError) return error.code;
    throw error;
  }
}
