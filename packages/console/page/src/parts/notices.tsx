import { type ComponentChildren, createContext } from "preact";
import { useCallback, useContext, useState } from "preact/hooks";
import { visible } from "../model/formats.ts";
import { IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";

export type Notify = (text: string, kind?: "done" | "failed") => void;

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly kind: "done" | "failed";
}

const SHOWN_MS = 6_000;
const NOTICES_MAX = 4;
const NoticeContext = createContext<Notify>(() => {});

export function useNotify(): Notify {
  return useContext(NoticeContext);
}

let lastId = 0;

/**
 * Short messages at the edge, which screen readers read out. Failures stay until they are closed.
 */
export function NoticeProvider({ children }: { readonly children: ComponentChildren }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const close = useCallback((id: number) => setNotices((all) => all.filter((notice) => notice.id !== id)), []);
  const notify = useCallback<Notify>(
    (text, kind = "done") => {
      const id = ++lastId;
      setNotices((all) => [...all.slice(1 - NOTICES_MAX), { id, text, kind }]);
      if (kind === "done") setTimeout(() => close(id), SHOWN_MS);
    },
    [close],
  );
  return (
    <NoticeContext.Provider value={notify}>
      {children}
      <div class="notices" role="status" aria-live="polite">
        {notices.map(({ id, text, kind }) => (
          <div key={id} class={`notice ${kind}`}>
            <Icon name={kind === "done" ? "check" : "warning"} />
            <span>{visible(text)}</span>
            <IconButton label="Close the message" icon="close" onClick={() => close(id)} />
          </div>
        ))}
      </div>
    </NoticeContext.Provider>
  );
}
