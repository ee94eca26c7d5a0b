import { visible } from "../model/formats.ts";
import { nodeHash, placeHash } from "../model/place.ts";

/** The path of a node, which leads to the node. */
export function NodeLink({ path }: { readonly path: string }) {
  return <a href={nodeHash(path)}>{visible(path)}</a>;
}

/** The id of a session, which leads to the session in the list. */
export function SessionLink({ id }: { readonly id: string }) {
  return <a href={placeHash("sessions", { filter: id })}>{visible(id)}</a>;
}
