import type { StatJson } from "../../../src/api/shapes.ts";
import { textOf } from "../model/api.ts";
import { basket } from "../model/basket.ts";
import { ageText, timeText, visible } from "../model/formats.ts";
import { Button } from "../parts/button.tsx";
import { SessionLink } from "../parts/links.tsx";
import { useNotify } from "../parts/notices.tsx";
import { useMayEdit } from "../parts/session-context.ts";
import { QuotaView } from "./quota-view.tsx";

interface StatTabProps {
  readonly path: string;
  readonly stat: StatJson;
}

export function StatTab({ path, stat }: StatTabProps) {
  const mayEdit = useMayEdit();
  const notify = useNotify();
  const check = (): void => {
    try {
      basket.add({ op: "check", path, version: stat.version, before: "" });
      notify(`The transaction checks that ${visible(path)} has version ${stat.version}`);
    } catch (reason) {
      notify(textOf(reason), "failed");
    }
  };
  const rows: readonly (readonly [name: string, value: string, meaning: string])[] = [
    ["czxid", stat.czxid, "created by this transaction"],
    ["ctime", timeText(stat.ctime), `created, ${ageText(Number(stat.ctime), Date.now())} ago`],
    ["mzxid", stat.mzxid, "data written last by this transaction"],
    ["mtime", timeText(stat.mtime), `data written, ${ageText(Number(stat.mtime), Date.now())} ago`],
    ["pzxid", stat.pzxid, "children created or deleted last by this transaction"],
    ["version", String(stat.version), "changes of the data"],
    ["cversion", String(stat.cversion), "changes of the children"],
    ["aversion", String(stat.aversion), "changes of the access list"],
    ["dataLength", String(stat.dataLength), "bytes of data"],
    ["numChildren", String(stat.numChildren), "children"],
  ];
  return (
    <>
      <table class="stat">
        <caption class="hidden">Stat</caption>
        <tbody>
          {rows.map(([name, value, meaning]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="code">{value}</td>
              <td class="hint">{meaning}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">ephemeralOwner</th>
            <td class="code">{stat.ephemeralOwner === null ? "–" : <SessionLink id={stat.ephemeralOwner} />}</td>
            <td class="hint">the session that the node lives with</td>
          </tr>
        </tbody>
      </table>
      {mayEdit && (
        <div class="toolbar">
          <span class="hint">A transaction can depend on this node without changing it.</span>
          <Button text={`Add a check of version ${stat.version} to the transaction`} onClick={check} />
        </div>
      )}
      <QuotaView path={path} version={`${stat.mzxid} ${stat.pzxid}`} />
    </>
  );
}
