import type { StatJson } from "../../../src/api/shapes.ts";
import { ageText, timeText } from "../model/formats.ts";
import { placeHash } from "../model/place.ts";

export function StatTab({ stat }: { readonly stat: StatJson }) {
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
          <td class="code">
            {stat.ephemeralOwner === null ? (
              "–"
            ) : (
              <a href={placeHash("sessions", { filter: stat.ephemeralOwner })}>{stat.ephemeralOwner}</a>
            )}
          </td>
          <td class="hint">the session that the node lives with</td>
        </tr>
      </tbody>
    </table>
  );
}
