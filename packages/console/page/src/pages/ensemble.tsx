import { useState } from "preact/hooks";
import type { EnsembleProblemJson, MemberJson } from "../../../src/api/shapes.ts";
import { api } from "../model/api.ts";
import { sizeText, visible } from "../model/formats.ts";
import { Banner } from "../parts/banner.tsx";
import { Button } from "../parts/button.tsx";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useIsOperator } from "../parts/session-context.ts";
import { usePolled } from "../parts/use-polled.ts";
import { MemberWizard } from "./member-wizard.tsx";

const POLL_MS = 2_000;
const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

export function EnsemblePage() {
  const { value, error, reload } = usePolled(api.ensemble, POLL_MS);
  const [isChanging, setChanging] = useState(false);
  const isOperator = useIsOperator();
  if (value === undefined) {
    return (
      <section class="page">
        <h1>Ensemble</h1>
        {error === undefined ? <p class="hint">Asking the members…</p> : <Failure text={error} />}
      </section>
    );
  }
  const { members, problems } = value;
  const voters = members.filter(({ isVoter }) => isVoter);
  const answering = members.filter(({ isReachable }) => isReachable);
  const leader = members.find(({ role }) => role === "leader" || role === "standalone");
  return (
    <section class="page">
      <h1>Ensemble</h1>
      <Failure text={error} />
      <Problems problems={problems} />
      <dl class="figures">
        <Figure label="Members answering" value={`${answering.length} of ${members.length}`} />
        <Figure label="Failures tolerated" value={String(tolerated(voters))} />
        <Figure label="Epoch" value={text(leader?.epoch)} />
        <Figure label="Nodes" value={text(leader?.nodeCount)} />
        <Figure label="Connections" value={text(sum(members, "connections"))} />
        <Figure label="Outstanding" value={text(sum(members, "outstanding"))} />
      </dl>
      <div class="toolbar">
        <h2>Members</h2>
        <span class="spacer" />
        {isOperator && <Button icon="sliders" text="Change members" onClick={() => setChanging(true)} />}
      </div>
      <div class="cards">
        {members.map((member) => (
          <Member key={`${member.sid} ${member.address}`} member={member} />
        ))}
      </div>
      {isChanging && (
        <MemberWizard
          members={members}
          onChanged={reload}
          onClose={() => {
            setChanging(false);
            reload();
          }}
        />
      )}
    </section>
  );
}

function Problems({ problems }: { readonly problems: readonly EnsembleProblemJson[] }) {
  if (problems.length === 0) {
    return <Banner kind="good">No problems.</Banner>;
  }
  return (
    <ul class="problems" aria-label="Problems">
      {problems.map(({ severity, text: what, remedy }) => (
        <li key={what} class={`banner ${severity}`}>
          <Icon name="warning" />
          <span>
            <strong>{what}.</strong> {remedy}.
          </span>
        </li>
      ))}
    </ul>
  );
}

function Member({ member }: { readonly member: MemberJson }) {
  const { sid, address, role, isReachable, reason, version, zxid, lagZxids, latencyMs } = member;
  return (
    <article class={`card member ${isReachable ? "" : "down"}`} aria-label={`Member ${address}`}>
      <header>
        <span class={`role role-${role}`}>{isReachable ? role : "no answer"}</span>
        {!member.isVoter && <span class="role">no vote</span>}
        <h3>{sid === null ? visible(address) : `Server ${sid}`}</h3>
      </header>
      {sid !== null && <p class="address">{visible(address)}</p>}
      {isReachable ? (
        <dl class="rows">
          <Figure label="Zxid" value={zxid ?? "–"} isCode />
          <Figure label="Lag" value={lagZxids === null ? "–" : `${NUMBER.format(lagZxids)} transactions`} />
          <Figure
            label="Latency"
            value={
              latencyMs === null
                ? "–"
                : `${NUMBER.format(latencyMs.average)} ms, at most ${NUMBER.format(latencyMs.max)} ms`
            }
          />
          <Figure label="Connections" value={text(member.connections)} />
          <Figure label="Outstanding" value={text(member.outstanding)} />
          <Figure label="Requests" value={text(member.received)} />
          <Figure label="Version" value={visible(version ?? "–")} />
          <Figure label="Disk room" value={roomText(member.storage)} />
          {member.storage?.certificates.map(({ use, expiresAt }) => (
            <Figure
              key={use}
              label={`Certificate for ${use}`}
              value={`until ${new Date(Number(expiresAt)).toLocaleDateString()}`}
            />
          ))}
        </dl>
      ) : (
        <p class="reason">{visible(reason ?? "")}</p>
      )}
    </article>
  );
}

/** Only Zooid's servers report it. */
function roomText(storage: MemberJson["storage"]): string {
  if (storage === null) return "not reported";
  const { dataFreeBytes: data, logFreeBytes: log, room } = storage;
  if (data === null && log === null) return "in memory";
  const sizes = [
    ...(data === null ? [] : [`${sizeText(Number(data))} for data`]),
    ...(log === null || log === data ? [] : [`${sizeText(Number(log))} for the log`]),
  ];
  return `${sizes.join(", ")}${room === "enough" ? "" : `: ${room}`}`;
}

interface FigureProps {
  readonly label: string;
  readonly value: string;
  readonly isCode?: boolean;
}

function Figure({ label, value, isCode }: FigureProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd class={isCode ? "code" : undefined}>{value}</dd>
    </div>
  );
}

/** Voters that may fail from now on. */
function tolerated(voters: readonly MemberJson[]): number {
  const quorum = Math.floor(voters.length / 2) + 1;
  return Math.max(0, voters.filter(({ isReachable }) => isReachable).length - quorum);
}

function sum(members: readonly MemberJson[], name: "connections" | "outstanding"): number {
  return members.reduce((total, member) => total + (member[name] ?? 0), 0);
}

function text(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : NUMBER.format(value);
}
