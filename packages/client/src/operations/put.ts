import type { Stat } from "@zooid/model";
import { isZkError } from "../errors.ts";

/**
 * Writes a node, or creates it if it does not exist. Ends when no other client creates and deletes
 * the node in between.
 */
export async function put(set: () => Promise<Stat>, create: () => Promise<{ readonly stat: Stat }>): Promise<Stat> {
  for (;;) {
    try {
      return await set();
    } catch (error) {
      if (!isZkError(error, "NO_NODE")) throw error;
    }
    try {
      return (await create()).stat;
    } catch (error) {
      if (!isZkError(error, "NODE_EXISTS")) throw error;
    }
  }
}
