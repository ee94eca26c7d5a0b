import { Random } from "../random.ts";

/** How the members of an ensemble change: by requests while it serves, or by files and restarts. */
export type ChangedBy = "requests" | "restarts";
export type Role = "participant" | "observer";
/** The ports of a line `server.N`, in its order. */
export type PortKind = "quorum" | "election" | "client";

/** One act of an operator. */
export type MemberStep =
  | { readonly kind: "add"; readonly sid: number; readonly role: Role }
  | { readonly kind: "remove"; readonly sid: number }
  | { readonly kind: "role"; readonly sid: number; readonly role: Role }
  | { readonly kind: "port"; readonly sid: number; readonly port: PortKind }
  /** Another address of the same machine. */
  | { readonly kind: "address"; readonly sid: number }
  | { readonly kind: "kill"; readonly sid: number }
  | { readonly kind: "wipe"; readonly sid: number }
  /** Each one after the other, when the one before serves again. */
  | { readonly kind: "restart-all" };

/** A member as its line has it. */
export interface PlannedMember {
  readonly sid: number;
  readonly role: Role;
  /** Each has two places: 0 and 1. */
  readonly address: 0 | 1;
  readonly ports: Readonly<Record<PortKind, 0 | 1>>;
}

export interface MemberSequence {
  readonly seed: number;
  readonly changedBy: ChangedBy;
  readonly founders: readonly PlannedMember[];
  readonly steps: readonly { readonly step: MemberStep; readonly after: readonly PlannedMember[] }[];
}

const FOUNDERS = 3;
const SID_MAX = 6;
const VOTERS_MIN = 2;

/**
 * A random sequence of acts, each of which makes sense after the ones before. Equal seeds give
 * equal sequences, even ones by requests.
 */
export function memberSequence(seed: number, length: number): MemberSequence {
  const random = new Random(seed);
  const changedBy = seed % 2 === 0 ? "requests" : "restarts";
  const founders = Array.from({ length: FOUNDERS }, (_, i) => newMember(i + 1, "participant"));
  const steps: { step: MemberStep; after: readonly PlannedMember[] }[] = [];
  let members: readonly PlannedMember[] = founders;
  const used = new Set(founders.map(({ sid }) => sid));
  while (steps.length < length) {
    const step = random.pick(possible(members, used, changedBy));
    members = afterStep(members, step);
    if (step.kind === "add") used.add(step.sid);
    steps.push({ step, after: members });
  }
  return { seed, changedBy, founders, steps };
}

function newMember(sid: number, role: Role): PlannedMember {
  return { sid, role, address: 0, ports: { quorum: 0, election: 0, client: 0 } };
}

/** A number is not used for another data directory later. */
function possible(
  members: readonly PlannedMember[],
  used: ReadonlySet<number>,
  changedBy: ChangedBy,
): readonly MemberStep[] {
  const voters = members.filter(({ role }) => role === "participant");
  const isAlone = voters.length <= VOTERS_MIN;
  const next = Math.max(...used) + 1;
  const steps: MemberStep[] = [{ kind: "restart-all" }];
  if (next <= SID_MAX)
    steps.push({ kind: "add", sid: next, role: "participant" }, { kind: "add", sid: next, role: "observer" });
  for (const { sid, role } of members) {
    const isVoter = role === "participant";
    if (!(isVoter && isAlone)) steps.push({ kind: "remove", sid });
    if (!isVoter) steps.push({ kind: "role", sid, role: "participant" });
    else if (!isAlone) steps.push({ kind: "role", sid, role: "observer" });
    steps.push({ kind: "kill", sid });
    // A wiped voter of two needs the other one's word, and the two are no quorum without it.
    if (voters.length > VOTERS_MIN) steps.push({ kind: "wipe", sid });
    // A restart that moves a member makes it unreachable for those that were not restarted yet.
    if (changedBy === "requests") steps.push({ kind: "address", sid });
    for (const port of ["quorum", "election", "client"] as const) steps.push({ kind: "port", sid, port });
  }
  return steps;
}

function afterStep(members: readonly PlannedMember[], step: MemberStep): readonly PlannedMember[] {
  const changed = (sid: number, change: (member: PlannedMember) => PlannedMember): readonly PlannedMember[] =>
    members.map((member) => (member.sid === sid ? change(member) : member));
  switch (step.kind) {
    case "add":
      return [...members, newMember(step.sid, step.role)];
    case "remove":
      return members.filter(({ sid }) => sid !== step.sid);
    case "role":
      return changed(step.sid, (member) => ({ ...member, role: step.role }));
    case "address":
      return changed(step.sid, (member) => ({ ...member, address: other(member.address) }));
    case "port":
      return changed(step.sid, (member) => ({
        ...member,
        ports: { ...member.ports, [step.port]: other(member.ports[step.port]) },
      }));
    case "kill":
    case "wipe":
    case "restart-all":
      return members;
    default:
      throw unknownStep(step);
  }
}

function other(place: 0 | 1): 0 | 1 {
  return place === 0 ? 1 : 0;
}

/** Whether an act changes the list of members. */
export function changesMembers({ kind }: MemberStep): boolean {
  return kind !== "kill" && kind !== "wipe" && kind !== "restart-all";
}

/** `role 3 observer` */
export function stepText(step: MemberStep): string {
  switch (step.kind) {
    case "add":
    case "role":
      return `${step.kind} ${step.sid} ${step.role}`;
    case "port":
      return `port ${step.sid} ${step.port}`;
    case "restart-all":
      return step.kind;
    case "remove":
    case "address":
    case "kill":
    case "wipe":
      return `${step.kind} ${step.sid}`;
    default:
      throw unknownStep(step);
  }
}

function unknownStep(step: never): Error {
  return new Error(`an unknown act: ${JSON.stringify(step)}`);
}
