import { useCallback, useState } from "preact/hooks";
import type { Word } from "../../../src/api/shapes.ts";
import { api } from "../model/api.ts";
import { visible } from "../model/formats.ts";
import { goTo } from "../model/place.ts";
import { Failure } from "../parts/failure.tsx";
import { usePolled } from "../parts/use-polled.ts";

const POLL_MS = 5_000;
const WORDS: Readonly<Record<Word, string>> = {
  srvr: "the server's figures",
  mntr: "all figures",
  conf: "its configuration",
  envi: "its environment",
  cons: "its connections",
  dump: "sessions and ephemeral nodes",
  dirs: "sizes of its directories",
  wchs: "the number of watches",
  wchc: "watches by session",
  wchp: "watches by path",
};

/** The members' answers to four-letter words. */
export function WordsPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const word = (Object.keys(WORDS) as Word[]).find((each) => each === params["word"]) ?? "srvr";
  const sid = /^\d{1,3}$/.test(params["sid"] ?? "") ? Number(params["sid"]) : undefined;
  const { value: ensemble } = usePolled(api.ensemble, POLL_MS);
  const read = useCallback(() => api.word(word, sid), [word, sid]);
  const { value, error } = usePolled(read, POLL_MS);
  const [filter, setFilter] = useState("");
  const lines = (value?.text ?? "").split("\n").filter((line) => line.toLowerCase().includes(filter.toLowerCase()));
  return (
    <section class="page">
      <h1>Four-letter words</h1>
      <div class="toolbar">
        <label class="inline">
          Member
          <select
            value={String(sid ?? ensemble?.members[0]?.sid ?? 0)}
            onChange={(event) => goTo("words", { word, sid: event.currentTarget.value })}
          >
            {(ensemble?.members ?? []).map((member) => (
              <option key={member.address} value={String(member.sid ?? 0)}>
                {member.sid === null ? member.address : `Server ${member.sid}, ${member.address}`}
              </option>
            ))}
          </select>
        </label>
        <label class="inline">
          Word
          <select
            value={word}
            onChange={(event) => goTo("words", { word: event.currentTarget.value, sid: params["sid"] ?? "" })}
          >
            {Object.entries(WORDS).map(([each, meaning]) => (
              <option key={each} value={each}>
                {each}: {meaning}
              </option>
            ))}
          </select>
        </label>
        <label class="inline">
          Filter
          <input type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
        </label>
      </div>
      <Failure text={error} />
      <section class="block data" tabIndex={0} aria-label="Answer">
        <pre>{visible(lines.join("\n"))}</pre>
      </section>
      {value?.isCut === true && <p class="hint">Only the beginning is shown.</p>}
    </section>
  );
}
