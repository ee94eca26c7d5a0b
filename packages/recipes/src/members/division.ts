/** Which items each member of a set has. */
import { ArgumentError, found } from "@zooid/model";
import { owned } from "../at-once.ts";

/** The items of one member. */
export type Divide = (id: string, members: readonly string[], items: readonly string[]) => readonly string[];

/** Round robin, starting at the index among the members. */
export function inTurn(id: string, members: readonly string[], items: readonly string[]): readonly string[] {
  const place = [...members].sort().indexOf(id);
  return [...items].sort().filter((_, i) => i % members.length === place);
}

/**
 * The items of one member, by a caller's function, which must give each item to one member.
 *
 * Every member calls it for all members: an item that none of them claims would be idle, and
 * nothing would show it.
 *
 * @throws ArgumentError that names the item and the members; an error of the function
 */
export function shareOf(
  divide: Divide,
  id: string,
  { members, items }: { readonly members: readonly string[]; readonly items: readonly string[] },
): readonly string[] {
  const known = new Set(items);
  const owners = new Map<string, string>();
  for (const member of members) {
    // Copies, since the function may sort them in place.
    for (const item of shareIn(member, owned(divide(member, [...members], [...items])))) {
      if (!known.has(item)) throw refused(`gives items of the set to ${found(member)}, found ${found(item)}`);
      const other = owners.get(item);
      if (other !== undefined) {
        throw refused(`gives each item to one member, found ${found(item)} for ${found(other)} and ${found(member)}`);
      }
      owners.set(item, member);
    }
  }
  const idle = items.find((item) => !owners.has(item));
  if (idle !== undefined) throw refused(`gives each item to a member, found none for ${found(idle)}`);
  return [...owners].filter(([, owner]) => owner === id).map(([item]) => item);
}

function shareIn(member: string, share: unknown): readonly string[] {
  if (Array.isArray(share)) return share;
  throw refused(`returns an array of items for ${found(member)}, found ${found(share)}`);
}

function refused(problem: string): ArgumentError {
  return new ArgumentError("SetPartitioner", [`divide ${problem}`]);
}
