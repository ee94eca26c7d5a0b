/**
 * A version that no node has: a write that demands it is checked by the server as every write,
 * permissions included, and is refused in the end. So a dry run finds what would be refused.
 */
export const NEVER_VERSION: number = 2 ** 31 - 1;
