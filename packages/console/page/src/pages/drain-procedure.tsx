import { useCallback } from "preact/hooks";
import type { MemberJson } from "../../../src/api/shapes.ts";
import { api } from "../model/api.ts";
import { Banner } from "../parts/banner.tsx";
import { Button } from "../parts/button.tsx";
import { Failure } from "../parts/failure.tsx";
import { useAction } from "../parts/use-action.ts";
import { usePolled } from "../parts/use-polled.ts";

const POLL_MS = 1_000;

interface DrainProcedureProps {
  readonly members: readonly MemberJson[];
  /** 0 for a server without an ensemble. */
  readonly sid: number;
  readonly onBack: () => void;
  readonly onClose: () => void;
}

/** Empties a server of its clients, and shows how far that is. */
export function DrainProcedure({ members, sid, onBack, onClose }: DrainProcedureProps) {
  const read = useCallback(() => api.drainStatus(sid), [sid]);
  const { value, error, reload } = usePolled(read, POLL_MS);
  const action = useAction();
  const others = members.filter((member) => (member.sid ?? 0) !== sid && member.isVoter && member.isReachable);
  const voters = members.filter(({ isVoter }) => isVoter);
  const isSafe = others.length >= Math.floor(voters.length / 2) + 1;
  const act = (step: "begin" | "end"): void => action.run(() => api.drain(sid, step).then(reload));
  const isDrained = value?.isDraining === true && value.connections === 0 && !value.isLeader;
  return (
    <>
      <p>
        The server hands its leadership over, refuses new sessions, and closes its connections one after another within
        ten seconds. Its clients go on at other servers.
      </p>
      {!isSafe && (
        <Banner kind="warning">
          {members.length === 1
            ? "There is no other server: its clients have none until the drain ends."
            : "Without this server the voters that answer are no quorum: do not stop it now."}
        </Banner>
      )}
      {value !== undefined && (
        <p role="status">
          {!value.isDraining
            ? `The server serves ${value.connections} connections${value.isLeader ? " and leads" : ""}.`
            : isDrained
              ? "The server is drained and can be stopped."
              : `Draining: ${value.connections} connections are left${value.isLeader ? ", and the server still leads" : ""}.`}
        </p>
      )}
      <Failure text={action.error ?? error} />
      <footer>
        <Button
          text={value?.isDraining === true ? "Close" : "Back"}
          onClick={value?.isDraining === true ? onClose : onBack}
        />
        {value?.isDraining === true ? (
          <Button text="End the drain" class="primary" onClick={() => act("end")} />
        ) : (
          <Button
            text="Drain the server"
            class="danger filled"
            disabled={value === undefined}
            onClick={() => act("begin")}
          />
        )}
      </footer>
    </>
  );
}
