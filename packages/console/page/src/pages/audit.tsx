import { useState } from "preact/hooks";
import { type AuditFilter, type AuditLine, filtered, type MemberTail, pageOf, SERVER } from "../model/audit-lines.ts";
import { visible } from "../model/formats.ts";
import { nodeHash, placeHash } from "../model/place.ts";
import { Failure } from "../parts/failure.tsx";
import { useAuditLines } from "../parts/use-audit-lines.ts";

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/**
 * The newest writes of all members and their requesters, the newest first, while this page is open.
 */
export function AuditPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const [isPaused, setPaused] = useState(false);
  const [filter, setFilter] = useState<AuditFilter>({
    user: params["user"] ?? "",
    operation: params["operation"] ?? "",
    path: params["path"] ?? "",
  });
  const [wanted, setWanted] = useState(0);
  const { lines, tails, error, isAsked } = useAuditLines(isPaused);
  const found = filtered(lines, filter);
  const { lines: shown, page, pageCount } = pageOf(found, wanted);
  const droppedCount = tails.reduce((sum, tail) => sum + tail.droppedCount, 0);
  const change = (part: Partial<AuditFilter>): void => {
    setFilter({ ...filter, ...part });
    setWanted(0);
  };
  return (
    <section class="page">
      <h1>Audit</h1>
      <p class="hint">
        Writes of all members' clients since this page was first opened, by each member's own clock. The members' audit
        log files have all of them.
      </p>
      <div class="toolbar">
        <FilterField label="User" value={filter.user} onChange={(user) => change({ user })} />
        <FilterField label="Operation" value={filter.operation} onChange={(operation) => change({ operation })} />
        <FilterField label="Node" value={filter.path} onChange={(path) => change({ path })} />
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? "Continue" : "Pause"}
        </button>
        <span class="hint" role="status">
          {isAsked ? `${found.length.toLocaleString()} lines` : "Asking the members…"}
          {droppedCount > 0 && `, ${droppedCount.toLocaleString()} came too fast and are left out`}
        </span>
      </div>
      <Failure text={error} />
      <SilentMembers tails={tails} />
      <section class="table-scroll" tabIndex={0} aria-label="Writes">
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Member</th>
              <th scope="col">Operation</th>
              <th scope="col">Node</th>
              <th scope="col">User</th>
              <th scope="col">Address</th>
              <th scope="col">Session</th>
              <th scope="col">Result</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((line) => (
              <Row key={`${line.sid} ${line.number} ${line.time}`} line={line} />
            ))}
          </tbody>
        </table>
      </section>
      {pageCount > 1 && (
        <div class="toolbar">
          <button type="button" disabled={page === 0} onClick={() => setWanted(page - 1)}>
            Newer lines
          </button>
          <span class="hint" role="status">
            Page {page + 1} of {pageCount}
          </span>
          <button type="button" disabled={page === pageCount - 1} onClick={() => setWanted(page + 1)}>
            Older lines
          </button>
        </div>
      )}
    </section>
  );
}

interface FilterFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function FilterField({ label, value, onChange }: FilterFieldProps) {
  return (
    <label class="inline">
      {label}
      <input type="search" value={value} onInput={(event) => onChange(event.currentTarget.value)} />
    </label>
  );
}

/** Members whose writes are missing in the list, and why. */
function SilentMembers({ tails }: { readonly tails: readonly MemberTail[] }) {
  return (
    <>
      {tails.map(({ sid, member, reason, againSince }) => {
        if (reason === undefined && againSince === undefined) return null;
        const text =
          reason === undefined
            ? `began to record again at ${TIME.format(Number(againSince))}: writes before that are missing`
            : `gives no lines: ${reason}`;
        return (
          <p key={sid} class="banner warning">
            {visible(`${member} ${text}`)}
          </p>
        );
      })}
    </>
  );
}

function Row({ line }: { readonly line: AuditLine }) {
  const { time, member, operation, path, user, address, session, result, isCut } = line;
  return (
    <tr>
      <td>{TIME.format(Number(time))}</td>
      <td class="code">{visible(member)}</td>
      <td>{visible(operation)}</td>
      <td class="code">
        <Node path={path} isCut={isCut} />
      </td>
      <td>{user === null ? SERVER : visible(user)}</td>
      <td class="code">{address === null ? "–" : visible(address)}</td>
      <td class="code">
        <a href={placeHash("sessions", { filter: session })}>{visible(session)}</a>
      </td>
      <td class={result === "failure" ? "failure-text" : ""}>{result}</td>
    </tr>
  );
}

/** A link, unless the name is not known in full. */
function Node({ path, isCut }: { readonly path: string | null; readonly isCut: boolean }) {
  if (path === null) return <>–</>;
  return isCut ? <>{visible(path)}…</> : <a href={nodeHash(path)}>{visible(path)}</a>;
}
