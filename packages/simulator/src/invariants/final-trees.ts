import { type ConnectionRef, sliceOf } from "@zooid/model";
import { answerSink, describeAnswer } from "../cluster/answers.ts";
import type { SimServer } from "../cluster/server.ts";
import type { History } from "../model/history.ts";
import { Violation } from "./violation.ts";

/**
 * The nodes that the tree counts beside the model's: the root a second time, as in Apache, and
 * three reserved nodes.
 */
const RESERVED_COUNT = 5;

/**
 * C1 and I26 at the end of a run: every tree equals the model, and no ephemeral outlives its
 * session.
 */
export function checkFinalTrees(servers: readonly SimServer[], history: History): void {
  for (const server of servers) checkTree(server, history);
  const { model, sessions } = history;
  for (const owner of model.owners()) {
    const life = sessions.get(owner as never);
    if (life === undefined || life.closedZxid !== undefined) {
      throw new Violation("I26", `an ephemeral outlives its session ${owner}`);
    }
  }
}

function checkTree(server: SimServer, { model, sessions }: History): void {
  const { sid, replica } = server;
  const { tree } = replica;
  let count = 0;
  for (const path of model.paths()) {
    count++;
    const seen = readAnswer(server, path);
    if (seen === undefined) throw new Violation("C1", `server ${sid} lacks ${path}`);
    const known = model.read(path);
    const expected = describeAnswer({ kind: "data", data: known?.data ?? "", stat: known?.stat as never });
    if (seen !== expected) {
      throw new Violation("C1", `server ${sid} has ${path} as ${seen}, the model says ${expected}`);
    }
  }
  if (tree.nodeCount !== count + RESERVED_COUNT) {
    throw new Violation("C1", `server ${sid} has ${tree.nodeCount - RESERVED_COUNT} nodes, the model has ${count}`);
  }
  const living = sessions.livingCount;
  if (tree.sessionCount !== living) {
    throw new Violation("I26", `server ${sid} has ${tree.sessionCount} sessions, the model has ${living}`);
  }
}

/** The answer to a read of a node, as text; undefined where there is none. */
function readAnswer({ replica: { tree } }: SimServer, path: string): string | undefined {
  const { bytes, start, end } = sliceOf(path);
  const node = tree.find(bytes, start, end);
  if (node === 0) return undefined;
  let seen = "";
  const sink = answerSink((_, __, ___, answer) => {
    seen = describeAnswer(answer);
  });
  sink.data(0 as ConnectionRef, 0, tree.applied, tree.view(node));
  return seen;
}
