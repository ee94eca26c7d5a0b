import { useState } from "preact/hooks";
import { type AuditFilter, type AuditLine, filtered, type MemberTail, pageOf, SERVER } from "../model/audit-lines.ts";
import { visible } from "../model/formats.ts";
import { Button } from "../parts/button.tsx";
import { Failure } from "../parts/failure.tsx";
import { SearchField } from "../parts/fields.tsx";
import { NodeLink, SessionLink } from "../parts/links.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useAuditLines } from "../parts/use-audit-lines.ts";

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const COLUMNS: readonly Column<AuditLine>[] = [
  { head: "Time", cell: ({ time }) => TIME.format(Number(time)) },
  { head: "Member", kind: "code", cell: ({ member }) => visible(member) },
  { head: "Operation", cell: ({ operation }) => visible(operation) },
  { head: "Node", kind: "code", cell: ({ path, isCut }) => <Node path={path} isCut={isCut} /> },
  { head: "User", cell: ({ user }) => (user === null ? SERVER : visible(user)) },
  { head: "Address", kind: "code", cell: ({ address }) => (address === null ? "–" : visible(address)) },
  { head: "Session", kind: "code", cell: ({ session }) => <SessionLink id={session} /> },
  {
    head: "Result",
    cell: ({ result }) => <span class={result === "failure" ? "failure-text" : undefined}>{result}</span>,
  },
];

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
        <SearchField label="User" value={filter.user} onText={(user) => change({ user })} />
        <SearchField label="Operation" value={filter.operation} onText={(operation) => change({ operation })} />
        <SearchField label="Node" value={filter.path} onText={(path) => change({ path })} />
        <Button text={isPaused ? "Continue" : "Pause"} aria-pressed={isPaused} onClick={() => setPaused(!isPaused)} />
        <span class="hint" role="status">
          {isAsked ? `${found.length.toLocaleString()} lines` : "Asking the members…"}
          {droppedCount > 0 && `, ${droppedCount.toLocaleString()} came too fast and are left out`}
        </span>
      </div>
      <Failure text={error} />
      <SilentMembers tails={tails} />
      <Table
        label="Writes"
        columns={COLUMNS}
        rows={shown}
        keyOf={({ sid, number, time }) => `${sid} ${number} ${time}`}
      />
      {pageCount > 1 && (
        <div class="toolbar">
          <Button text="Newer lines" disabled={page === 0} onClick={() => setWanted(page - 1)} />
          <span class="hint" role="status">
            Page {page + 1} of {pageCount}
          </span>
          <Button text="Older lines" disabled={page === pageCount - 1} onClick={() => setWanted(page + 1)} />
        </div>
      )}
    </section>
  );
}

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

function Node({ path, isCut }: { readonly path: string | null; readonly isCut: boolean }) {
  if (path === null) return <>–</>;
  return isCut ? <>{visible(path)}…</> : <NodeLink path={path} />;
}
