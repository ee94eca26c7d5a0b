import { useCallback, useEffect, useState } from "preact/hooks";
import type { RightJson, RightsJson } from "../../../src/api/node-fact-shapes.ts";
import { api, textOf } from "../model/api.ts";
import { visible } from "../model/formats.ts";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useSession } from "../parts/session-context.ts";

const ACTIONS: Readonly<Record<RightJson["action"], string>> = {
  read: "Read its data, list its children",
  write: "Replace its data",
  "create-children": "Create children",
  "delete-children": "Delete children",
  delete: "Delete the node",
  "set-acl": "Change this list",
};

interface RightsViewProps {
  readonly path: string;
  /** As the Stat has it now: another list means other rights. */
  readonly aversion: number | undefined;
}

/**
 * The rights of the user of this page to a node, by the access lists of the node and of its parent.
 */
export function RightsView({ path, aversion }: RightsViewProps) {
  const [rights, setRights] = useState<RightsJson>();
  const [error, setError] = useState<string>();
  const read = useCallback(() => {
    api.rights(path).then(
      (found) => {
        setRights(found);
        setError(undefined);
      },
      (reason: unknown) => setError(textOf(reason)),
    );
  }, [path]);
  const { user } = useSession();
  useEffect(read, [read, aversion, user]);
  if (rights === undefined) return <Failure text={error} />;
  const who = rights.identities.map(({ scheme, id }) => `${scheme}:${id}`);
  return (
    <section class="rights" aria-label="Your rights">
      <h2>What you may do</h2>
      <p class="hint">
        {rights.isSuperuser ? "The servers know you as the superuser: " : "The servers know you as "}
        <code>{who.length === 0 ? "an anonymous client" : visible(who.join(", "))}</code>
      </p>
      <ul class="verdicts">
        {rights.rights.map((right) => (
          <li key={right.action} class={`verdict-${right.verdict}`}>
            <Icon name={right.verdict === "yes" ? "check" : right.verdict === "no" ? "close" : "warning"} />
            <span>
              <strong>{right.verdict}</strong> {ACTIONS[right.action]}
              <span class="hint"> {reasonOf(right, rights)}</span>
            </span>
          </li>
        ))}
      </ul>
      <Failure text={error} />
    </section>
  );
}

function reasonOf({ verdict, permission, node, grants }: RightJson, { path, isSuperuser }: RightsJson): string {
  const where = node === path ? "" : ` on ${visible(node)}`;
  const by = grants.map(({ scheme, id }) => visible(`${scheme}:${id}`)).join(", ");
  switch (verdict) {
    case "yes":
      return isSuperuser && grants.length === 0 ? "" : `${permission}${where}, by ${by}`;
    case "no":
      return path === "/" && node === path && permission === "delete" ? "" : `needs ${permission}${where}`;
    case "likely":
      return `${permission}${where}, by ${by}: its hash is hidden from you`;
    case "unknown":
      return `needs ${permission}${where}, whose list is hidden from you`;
  }
}
