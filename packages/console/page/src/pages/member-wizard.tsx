import { useCallback, useState } from "preact/hooks";
import type { MemberChangeJson, MemberJson } from "../../../src/api/shapes.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { SelectField, TextField } from "../parts/fields.tsx";
import { useSession } from "../parts/session-context.ts";
import { DrainProcedure } from "./drain-procedure.tsx";
import { MemberCheck } from "./member-check.tsx";
import { TransferProcedure } from "./transfer-procedure.tsx";

const PROCEDURES = [
  { id: "add", label: "Add a server" },
  { id: "replace", label: "Replace a server by another" },
  { id: "remove", label: "Remove a server" },
  { id: "promote", label: "Give an observer a vote" },
  { id: "demote", label: "Take a server's vote" },
  { id: "transfer", label: "Transfer the leadership" },
  { id: "drain", label: "Drain a server before maintenance" },
] as const;
type ProcedureId = (typeof PROCEDURES)[number]["id"];

interface MemberWizardProps {
  readonly members: readonly MemberJson[];
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** A member procedure: first what is to be done, then the checks, then the change. */
export function MemberWizard({ members, onChanged, onClose }: MemberWizardProps) {
  const [procedure, setProcedure] = useState<ProcedureId>("add");
  const [sid, setSid] = useState<number>();
  const [server, setServer] = useState("");
  const [checked, setChecked] = useState<MemberChangeJson>();
  const [isStarted, setStarted] = useState(false);
  const candidates = candidatesOf(procedure, members);
  const chosen = candidates.find((member) => member.sid === sid)?.sid ?? candidates[0]?.sid ?? undefined;
  const back = useCallback(() => {
    setChecked(undefined);
    setStarted(false);
  }, []);
  if (checked !== undefined || isStarted) {
    return (
      <Dialog title={titleOf(procedure)} onClose={onClose} isWide={checked !== undefined}>
        {checked !== undefined ? (
          <MemberCheck change={checked} onBack={back} onChanged={onChanged} onClose={onClose} />
        ) : procedure === "transfer" ? (
          <TransferProcedure members={members} to={sid ?? null} onBack={back} onChanged={onChanged} onClose={onClose} />
        ) : (
          <DrainProcedure members={members} sid={chosen ?? 0} onBack={back} onClose={onClose} />
        )}
      </Dialog>
    );
  }
  const submit = (event: Event): void => {
    event.preventDefault();
    const change = changeOf(procedure, chosen ?? 0, server.trim());
    if (change === undefined) setStarted(true);
    else setChecked(change);
  };
  const needsServer = procedure === "add" || procedure === "replace";
  const needsSid = procedure !== "add";
  return (
    <Dialog title="Change members" onClose={onClose}>
      <form onSubmit={submit}>
        <SelectField
          label="Procedure"
          value={procedure}
          options={PROCEDURES}
          onChange={(id) => {
            setProcedure(id);
            setSid(undefined);
          }}
        />
        {needsSid && (
          <SelectField
            label={procedure === "transfer" ? "To" : "Server"}
            value={String(procedure === "transfer" ? (sid ?? "") : (chosen ?? ""))}
            options={[
              ...(procedure === "transfer" ? [{ id: "", label: "The server that suits best" }] : []),
              ...candidates.map((member) => ({ id: String(member.sid), label: nameOf(member) })),
            ]}
            onChange={(id) => setSid(id === "" ? undefined : Number(id))}
          />
        )}
        {needsSid && candidates.length === 0 && <p class="hint">No server is one for this procedure.</p>}
        {needsServer && (
          <TextField
            label={procedure === "add" ? "The new server" : "The server that takes its place"}
            required
            spellcheck={false}
            autoComplete="off"
            placeholder="4=host:2888:3888;2181"
            value={server}
            onText={setServer}
          />
        )}
        {procedure === "add" && (
          <p class="hint">Its number, its address with quorum and election port, and its client port.</p>
        )}
        <DrainNote procedure={procedure} />
        <footer>
          <Button text="Cancel" onClick={onClose} />
          <Button text="Check" type="submit" class="primary" disabled={needsSid && candidates.length === 0} />
        </footer>
      </form>
    </Dialog>
  );
}

/** Transfers and drains need admin ports. */
function DrainNote({ procedure }: { readonly procedure: ProcedureId }) {
  const { adminServers } = useSession().features;
  if (procedure !== "transfer" && procedure !== "drain") return null;
  return (
    <p class="hint">
      This needs the admin port of the server.{" "}
      {adminServers.length === 0
        ? "The console knows none: it is for Zooid's servers, and their ports are configured."
        : `The console knows those of ${adminServers.map((sid) => (sid === 0 ? "the server" : `server ${sid}`)).join(", ")}.`}
    </p>
  );
}

function nameOf({ sid, address, isReachable, role }: MemberJson): string {
  const number = sid === 0 || sid === null ? "" : `Server ${sid}, `;
  return `${number}${address}, ${isReachable ? role : "no answer"}`;
}

function titleOf(procedure: ProcedureId): string {
  return PROCEDURES.find(({ id }) => id === procedure)?.label ?? "Change members";
}

function candidatesOf(procedure: ProcedureId, members: readonly MemberJson[]): readonly MemberJson[] {
  switch (procedure) {
    case "add":
      return [];
    case "promote":
      return members.filter(({ sid, isVoter }) => sid !== null && !isVoter);
    case "demote":
      return members.filter(({ sid, isVoter }) => sid !== null && isVoter);
    case "transfer":
      return members.filter(({ sid, isVoter, role }) => sid !== null && isVoter && role !== "leader");
    case "drain":
      // A server without an ensemble has the number 0 here.
      return members.map((member) => ({ ...member, sid: member.sid ?? 0 }));
    default:
      return members.filter(({ sid }) => sid !== null);
  }
}

function changeOf(procedure: ProcedureId, sid: number, server: string): MemberChangeJson | undefined {
  switch (procedure) {
    case "add":
      return { kind: "add", server };
    case "replace":
      return { kind: "replace", sid, server };
    case "remove":
    case "promote":
    case "demote":
      return { kind: procedure, sid };
    default:
      return undefined;
  }
}
