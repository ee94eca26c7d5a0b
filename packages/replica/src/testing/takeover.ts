import { type ConnectionRef, OpCode } from "@zooid/model";
import fc from "fast-check";
import { expect } from "vitest";
import { TestEnsemble, type TestMember } from "./ensemble.ts";
import { create, onPath, read, setData } from "./requests.ts";

interface Connected {
  readonly member: TestMember;
  readonly ref: ConnectionRef;
}

type Step =
  | { readonly kind: "ask"; readonly by: number; readonly op: number }
  | { readonly kind: "take over"; readonly at: number }
  | { readonly kind: "disconnect"; readonly which: number }
  | { readonly kind: "run" };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant("ask" as const),
        // Mostly by the newest connection, which is the last.
        by: fc.oneof({ weight: 4, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: fc.nat(10) }),
        op: fc.constantFrom(OpCode.CREATE, OpCode.EXISTS, OpCode.SYNC, OpCode.SET_DATA, OpCode.CLOSE_SESSION),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("take over" as const), at: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("disconnect" as const), which: fc.nat(10) }) },
    { weight: 1, arbitrary: fc.constant({ kind: "run" as const }) },
  ),
  { minLength: 5, maxLength: 30 },
);

/**
 * The connection that has a session is answered or closed, whatever its earlier connections have in
 * flight.
 */
export function answersNewestConnection(numRuns: number): void {
  fc.assert(
    fc.property(steps, (list) => {
      const ensemble = new TestEnsemble(3);
      const members = [ensemble.leader, ...ensemble.followers];
      const first = members[1] ?? ensemble.leader;
      const connections: Connected[] = [{ member: first, ref: first.open() }];
      const { session, password } = first;
      list.forEach((step, xid) => {
        if (step.kind === "run") ensemble.run();
        else if (step.kind === "take over") {
          const member = members[step.at] ?? ensemble.leader;
          connections.push({ member, ref: member.connect({ session, password }) });
        } else if (step.kind === "ask") {
          const { member, ref } = connections.at(step.by) ?? (connections[0] as Connected);
          if (step.op === OpCode.CREATE) member.send(ref, xid, step.op, create(`/n${xid}`));
          else if (step.op === OpCode.SET_DATA) member.send(ref, xid, step.op, setData("/", "x"));
          else if (step.op === OpCode.SYNC) member.send(ref, xid, step.op, onPath("/"));
          else member.send(ref, xid, step.op, read("/"));
        } else {
          // The newest stays.
          const [gone] = connections.length > 1 ? connections.splice(step.which % (connections.length - 1), 1) : [];
          gone?.member.replica.disconnect(gone.ref);
        }
      });
      ensemble.run();
      const { member, ref } = connections.at(-1) as Connected;
      member.send(ref, 1000, OpCode.EXISTS, read("/"));
      ensemble.run();
      expect(member.take(ref).join("; ")).toMatch(/1000 stat|close/);
    }),
    { numRuns },
  );
}
