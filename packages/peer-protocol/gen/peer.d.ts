import * as $protobuf from "protobufjs";
import Long = require("long");

export namespace zooid {

    interface IEnvelope extends zooid.Envelope.$Properties {
    }

    class Envelope {
        constructor(properties?: zooid.Envelope.$Properties);
        $unknowns?: Uint8Array[];
        hello?: (zooid.Hello.$Properties|null);
        authProof?: (zooid.AuthProof.$Properties|null);
        linkRefuse?: (zooid.LinkRefuse.$Properties|null);
        heartbeat?: (zooid.Heartbeat.$Properties|null);
        notification?: (zooid.Notification.$Properties|null);
        poll?: (zooid.Poll.$Properties|null);
        pollAnswer?: (zooid.PollAnswer.$Properties|null);
        learnerInfo?: (zooid.LearnerInfo.$Properties|null);
        leaderInfo?: (zooid.LeaderInfo.$Properties|null);
        ackEpoch?: (zooid.AckEpoch.$Properties|null);
        syncBegin?: (zooid.SyncBegin.$Properties|null);
        snapshotChunk?: (zooid.SnapshotChunk.$Properties|null);
        snapshotCredit?: (zooid.SnapshotCredit.$Properties|null);
        entries?: (zooid.Entries.$Properties|null);
        staged?: (zooid.Staged.$Properties|null);
        newLeader?: (zooid.NewLeader.$Properties|null);
        ackNewLeader?: (zooid.AckNewLeader.$Properties|null);
        upToDate?: (zooid.UpToDate.$Properties|null);
        ack?: (zooid.Ack.$Properties|null);
        commit?: (zooid.Commit.$Properties|null);
        ping?: (zooid.Ping.$Properties|null);
        pong?: (zooid.Pong.$Properties|null);
        leadershipTransfer?: (zooid.LeadershipTransfer.$Properties|null);
        refuse?: (zooid.Refuse.$Properties|null);
        identities?: (zooid.Identities.$Properties|null);
        forward?: (zooid.Forward.$Properties|null);
        openSession?: (zooid.OpenSession.$Properties|null);
        revalidate?: (zooid.Revalidate.$Properties|null);
        revalidated?: (zooid.Revalidated.$Properties|null);
        sync?: (zooid.Sync.$Properties|null);
        syncReply?: (zooid.SyncReply.$Properties|null);
        relayTo?: (zooid.RelayTo.$Properties|null);
        relayReady?: (zooid.RelayReady.$Properties|null);
        relayOpen?: (zooid.RelayOpen.$Properties|null);
        relayClose?: (zooid.RelayClose.$Properties|null);
        relayBytes?: (zooid.RelayBytes.$Properties|null);
        relayRun?: (zooid.RelayRun.$Properties|null);
        body?: ("hello"|"authProof"|"linkRefuse"|"heartbeat"|"notification"|"poll"|"pollAnswer"|"learnerInfo"|"leaderInfo"|"ackEpoch"|"syncBegin"|"snapshotChunk"|"snapshotCredit"|"entries"|"staged"|"newLeader"|"ackNewLeader"|"upToDate"|"ack"|"commit"|"ping"|"pong"|"leadershipTransfer"|"refuse"|"identities"|"forward"|"openSession"|"revalidate"|"revalidated"|"sync"|"syncReply"|"relayTo"|"relayReady"|"relayOpen"|"relayClose"|"relayBytes"|"relayRun");
        static encode(message: zooid.Envelope.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Envelope & zooid.Envelope.$Shape;
    }

    namespace Envelope {
        interface $Properties {
            hello?: (zooid.Hello.$Properties|null);
            authProof?: (zooid.AuthProof.$Properties|null);
            linkRefuse?: (zooid.LinkRefuse.$Properties|null);
            heartbeat?: (zooid.Heartbeat.$Properties|null);
            notification?: (zooid.Notification.$Properties|null);
            poll?: (zooid.Poll.$Properties|null);
            pollAnswer?: (zooid.PollAnswer.$Properties|null);
            learnerInfo?: (zooid.LearnerInfo.$Properties|null);
            leaderInfo?: (zooid.LeaderInfo.$Properties|null);
            ackEpoch?: (zooid.AckEpoch.$Properties|null);
            syncBegin?: (zooid.SyncBegin.$Properties|null);
            snapshotChunk?: (zooid.SnapshotChunk.$Properties|null);
            snapshotCredit?: (zooid.SnapshotCredit.$Properties|null);
            entries?: (zooid.Entries.$Properties|null);
            staged?: (zooid.Staged.$Properties|null);
            newLeader?: (zooid.NewLeader.$Properties|null);
            ackNewLeader?: (zooid.AckNewLeader.$Properties|null);
            upToDate?: (zooid.UpToDate.$Properties|null);
            ack?: (zooid.Ack.$Properties|null);
            commit?: (zooid.Commit.$Properties|null);
            ping?: (zooid.Ping.$Properties|null);
            pong?: (zooid.Pong.$Properties|null);
            leadershipTransfer?: (zooid.LeadershipTransfer.$Properties|null);
            refuse?: (zooid.Refuse.$Properties|null);
            identities?: (zooid.Identities.$Properties|null);
            forward?: (zooid.Forward.$Properties|null);
            openSession?: (zooid.OpenSession.$Properties|null);
            revalidate?: (zooid.Revalidate.$Properties|null);
            revalidated?: (zooid.Revalidated.$Properties|null);
            sync?: (zooid.Sync.$Properties|null);
            syncReply?: (zooid.SyncReply.$Properties|null);
            relayTo?: (zooid.RelayTo.$Properties|null);
            relayReady?: (zooid.RelayReady.$Properties|null);
            relayOpen?: (zooid.RelayOpen.$Properties|null);
            relayClose?: (zooid.RelayClose.$Properties|null);
            relayBytes?: (zooid.RelayBytes.$Properties|null);
            relayRun?: (zooid.RelayRun.$Properties|null);
            body?: ("hello"|"authProof"|"linkRefuse"|"heartbeat"|"notification"|"poll"|"pollAnswer"|"learnerInfo"|"leaderInfo"|"ackEpoch"|"syncBegin"|"snapshotChunk"|"snapshotCredit"|"entries"|"staged"|"newLeader"|"ackNewLeader"|"upToDate"|"ack"|"commit"|"ping"|"pong"|"leadershipTransfer"|"refuse"|"identities"|"forward"|"openSession"|"revalidate"|"revalidated"|"sync"|"syncReply"|"relayTo"|"relayReady"|"relayOpen"|"relayClose"|"relayBytes"|"relayRun");
            $unknowns?: Uint8Array[];
        }
        type $Shape = {
          hello?: zooid.Hello.$Shape|null;
          authProof?: zooid.AuthProof.$Shape|null;
          linkRefuse?: zooid.LinkRefuse.$Shape|null;
          heartbeat?: zooid.Heartbeat.$Shape|null;
          notification?: zooid.Notification.$Shape|null;
          poll?: zooid.Poll.$Shape|null;
          pollAnswer?: zooid.PollAnswer.$Shape|null;
          learnerInfo?: zooid.LearnerInfo.$Shape|null;
          leaderInfo?: zooid.LeaderInfo.$Shape|null;
          ackEpoch?: zooid.AckEpoch.$Shape|null;
          syncBegin?: zooid.SyncBegin.$Shape|null;
          snapshotChunk?: zooid.SnapshotChunk.$Shape|null;
          snapshotCredit?: zooid.SnapshotCredit.$Shape|null;
          entries?: zooid.Entries.$Shape|null;
          staged?: zooid.Staged.$Shape|null;
          newLeader?: zooid.NewLeader.$Shape|null;
          ackNewLeader?: zooid.AckNewLeader.$Shape|null;
          upToDate?: zooid.UpToDate.$Shape|null;
          ack?: zooid.Ack.$Shape|null;
          commit?: zooid.Commit.$Shape|null;
          ping?: zooid.Ping.$Shape|null;
          pong?: zooid.Pong.$Shape|null;
          leadershipTransfer?: zooid.LeadershipTransfer.$Shape|null;
          refuse?: zooid.Refuse.$Shape|null;
          identities?: zooid.Identities.$Shape|null;
          forward?: zooid.Forward.$Shape|null;
          openSession?: zooid.OpenSession.$Shape|null;
          revalidate?: zooid.Revalidate.$Shape|null;
          revalidated?: zooid.Revalidated.$Shape|null;
          sync?: zooid.Sync.$Shape|null;
          syncReply?: zooid.SyncReply.$Shape|null;
          relayTo?: zooid.RelayTo.$Shape|null;
          relayReady?: zooid.RelayReady.$Shape|null;
          relayOpen?: zooid.RelayOpen.$Shape|null;
          relayClose?: zooid.RelayClose.$Shape|null;
          relayBytes?: zooid.RelayBytes.$Shape|null;
          relayRun?: zooid.RelayRun.$Shape|null;
          $unknowns?: Uint8Array[];
        } & (
          ({ body?: undefined; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "hello"; hello: zooid.Hello.$Shape; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "authProof"; hello?: null; authProof: zooid.AuthProof.$Shape; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "linkRefuse"; hello?: null; authProof?: null; linkRefuse: zooid.LinkRefuse.$Shape; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "heartbeat"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat: zooid.Heartbeat.$Shape; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "notification"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification: zooid.Notification.$Shape; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "poll"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll: zooid.Poll.$Shape; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "pollAnswer"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer: zooid.PollAnswer.$Shape; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "learnerInfo"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo: zooid.LearnerInfo.$Shape; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "leaderInfo"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo: zooid.LeaderInfo.$Shape; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "ackEpoch"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch: zooid.AckEpoch.$Shape; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "syncBegin"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin: zooid.SyncBegin.$Shape; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "snapshotChunk"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk: zooid.SnapshotChunk.$Shape; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "snapshotCredit"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit: zooid.SnapshotCredit.$Shape; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "entries"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries: zooid.Entries.$Shape; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "staged"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged: zooid.Staged.$Shape; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "newLeader"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader: zooid.NewLeader.$Shape; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "ackNewLeader"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader: zooid.AckNewLeader.$Shape; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "upToDate"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate: zooid.UpToDate.$Shape; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "ack"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack: zooid.Ack.$Shape; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "commit"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit: zooid.Commit.$Shape; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "ping"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping: zooid.Ping.$Shape; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "pong"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong: zooid.Pong.$Shape; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "leadershipTransfer"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer: zooid.LeadershipTransfer.$Shape; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "refuse"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse: zooid.Refuse.$Shape; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "identities"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities: zooid.Identities.$Shape; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "forward"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward: zooid.Forward.$Shape; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "openSession"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession: zooid.OpenSession.$Shape; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "revalidate"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate: zooid.Revalidate.$Shape; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "revalidated"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated: zooid.Revalidated.$Shape; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "sync"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync: zooid.Sync.$Shape; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "syncReply"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply: zooid.SyncReply.$Shape; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "relayTo"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo: zooid.RelayTo.$Shape; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "relayReady"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady: zooid.RelayReady.$Shape; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "relayOpen"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen: zooid.RelayOpen.$Shape; relayClose?: null; relayBytes?: null; relayRun?: null }|{ body?: "relayClose"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose: zooid.RelayClose.$Shape; relayBytes?: null; relayRun?: null }|{ body?: "relayBytes"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes: zooid.RelayBytes.$Shape; relayRun?: null }|{ body?: "relayRun"; hello?: null; authProof?: null; linkRefuse?: null; heartbeat?: null; notification?: null; poll?: null; pollAnswer?: null; learnerInfo?: null; leaderInfo?: null; ackEpoch?: null; syncBegin?: null; snapshotChunk?: null; snapshotCredit?: null; entries?: null; staged?: null; newLeader?: null; ackNewLeader?: null; upToDate?: null; ack?: null; commit?: null; ping?: null; pong?: null; leadershipTransfer?: null; refuse?: null; identities?: null; forward?: null; openSession?: null; revalidate?: null; revalidated?: null; sync?: null; syncReply?: null; relayTo?: null; relayReady?: null; relayOpen?: null; relayClose?: null; relayBytes?: null; relayRun: zooid.RelayRun.$Shape })
        );
    }

    interface IHello extends zooid.Hello.$Properties {
    }

    class Hello {
        constructor(properties?: zooid.Hello.$Properties);
        $unknowns?: Uint8Array[];
        ensembleId: string;
        sid: number;
        bootCount: (number|Long);
        nonce: Uint8Array;
        versionMin: number;
        versionMax: number;
        features: number[];
        purpose: zooid.Purpose;
        frameBytesMax: number;
        keyIds: string[];
        electionAlg: number;
        host: string;
        startId: string;
        levelMin: number;
        levelMax: number;
        level: number;
        static encode(message: zooid.Hello.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Hello & zooid.Hello.$Shape;
    }

    namespace Hello {
        interface $Properties {
            ensembleId?: (string|null);
            sid?: (number|null);
            bootCount?: (number|Long|null);
            nonce?: (Uint8Array|null);
            versionMin?: (number|null);
            versionMax?: (number|null);
            features?: (number[]|null);
            purpose?: (zooid.Purpose|null);
            frameBytesMax?: (number|null);
            keyIds?: (string[]|null);
            electionAlg?: (number|null);
            host?: (string|null);
            startId?: (string|null);
            levelMin?: (number|null);
            levelMax?: (number|null);
            level?: (number|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Hello.$Properties;
    }

    enum Purpose {
        ELECTION = 0,
        QUORUM = 1,
        OBSERVER = 2
    }

    interface IAuthProof extends zooid.AuthProof.$Properties {
    }

    class AuthProof {
        constructor(properties?: zooid.AuthProof.$Properties);
        $unknowns?: Uint8Array[];
        keyId: string;
        mac: Uint8Array;
        static encode(message: zooid.AuthProof.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.AuthProof & zooid.AuthProof.$Shape;
    }

    namespace AuthProof {
        interface $Properties {
            keyId?: (string|null);
            mac?: (Uint8Array|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.AuthProof.$Properties;
    }

    interface ILinkRefuse extends zooid.LinkRefuse.$Properties {
    }

    class LinkRefuse {
        constructor(properties?: zooid.LinkRefuse.$Properties);
        $unknowns?: Uint8Array[];
        reason: zooid.LinkReason;
        text: string;
        retryAfterMs: (number|Long);
        static encode(message: zooid.LinkRefuse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.LinkRefuse & zooid.LinkRefuse.$Shape;
    }

    namespace LinkRefuse {
        interface $Properties {
            reason?: (zooid.LinkReason|null);
            text?: (string|null);
            retryAfterMs?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.LinkRefuse.$Properties;
    }

    enum LinkReason {
        VERSION = 0,
        AUTH = 1,
        ENSEMBLE = 2,
        CONFIGURATION = 3,
        DUPLICATE = 4,
        BUSY = 5
    }

    interface IHeartbeat extends zooid.Heartbeat.$Properties {
    }

    class Heartbeat {
        constructor(properties?: zooid.Heartbeat.$Properties);
        $unknowns?: Uint8Array[];
        sequence: (number|Long);
        isEcho: boolean;
        wallMs: (number|Long);
        static encode(message: zooid.Heartbeat.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Heartbeat & zooid.Heartbeat.$Shape;
    }

    namespace Heartbeat {
        interface $Properties {
            sequence?: (number|Long|null);
            isEcho?: (boolean|null);
            wallMs?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Heartbeat.$Properties;
    }

    enum Role {
        LOOKING = 0,
        FOLLOWING = 1,
        LEADING = 2,
        OBSERVING = 3
    }

    interface IVote extends zooid.Vote.$Properties {
    }

    class Vote {
        constructor(properties?: zooid.Vote.$Properties);
        $unknowns?: Uint8Array[];
        leader: number;
        zxid: (number|Long);
        peerEpoch: (number|Long);
        static encode(message: zooid.Vote.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Vote & zooid.Vote.$Shape;
    }

    namespace Vote {
        interface $Properties {
            leader?: (number|null);
            zxid?: (number|Long|null);
            peerEpoch?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Vote.$Properties;
    }

    interface INotification extends zooid.Notification.$Properties {
    }

    class Notification {
        constructor(properties?: zooid.Notification.$Properties);
        $unknowns?: Uint8Array[];
        role: zooid.Role;
        round: (number|Long);
        vote?: (zooid.Vote.$Properties|null);
        selfZxid: (number|Long);
        selfEpoch: (number|Long);
        config?: (Uint8Array|null);
        nextConfig?: (Uint8Array|null);
        ensembleId?: (string|null);
        isFromFile: boolean;
        static encode(message: zooid.Notification.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Notification & zooid.Notification.$Shape;
    }

    namespace Notification {
        interface $Properties {
            role?: (zooid.Role|null);
            round?: (number|Long|null);
            vote?: (zooid.Vote.$Properties|null);
            selfZxid?: (number|Long|null);
            selfEpoch?: (number|Long|null);
            config?: (Uint8Array|null);
            nextConfig?: (Uint8Array|null);
            ensembleId?: (string|null);
            isFromFile?: (boolean|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Notification.$Properties;
    }

    interface IPoll extends zooid.Poll.$Properties {
    }

    class Poll {
        constructor(properties?: zooid.Poll.$Properties);
        $unknowns?: Uint8Array[];
        number: (number|Long);
        static encode(message: zooid.Poll.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Poll & zooid.Poll.$Shape;
    }

    namespace Poll {
        interface $Properties {
            number?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Poll.$Properties;
    }

    interface IPollAnswer extends zooid.PollAnswer.$Properties {
    }

    class PollAnswer {
        constructor(properties?: zooid.PollAnswer.$Properties);
        $unknowns?: Uint8Array[];
        number: (number|Long);
        role: zooid.Role;
        vote?: (zooid.Vote.$Properties|null);
        config?: (Uint8Array|null);
        nextConfig?: (Uint8Array|null);
        ensembleId?: (string|null);
        isFromFile: boolean;
        static encode(message: zooid.PollAnswer.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.PollAnswer & zooid.PollAnswer.$Shape;
    }

    namespace PollAnswer {
        interface $Properties {
            number?: (number|Long|null);
            role?: (zooid.Role|null);
            vote?: (zooid.Vote.$Properties|null);
            config?: (Uint8Array|null);
            nextConfig?: (Uint8Array|null);
            ensembleId?: (string|null);
            isFromFile?: (boolean|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.PollAnswer.$Properties;
    }

    interface IPosition extends zooid.Position.$Properties {
    }

    class Position {
        constructor(properties?: zooid.Position.$Properties);
        $unknowns?: Uint8Array[];
        zxid: (number|Long);
        chain: (number|Long);
        static encode(message: zooid.Position.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Position & zooid.Position.$Shape;
    }

    namespace Position {
        interface $Properties {
            zxid?: (number|Long|null);
            chain?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Position.$Properties;
    }

    interface INamedState extends zooid.NamedState.$Properties {
    }

    class NamedState {
        constructor(properties?: zooid.NamedState.$Properties);
        $unknowns?: Uint8Array[];
        position?: (zooid.Position.$Properties|null);
        digest: (number|Long);
        isTaken: boolean;
        level: number;
        static encode(message: zooid.NamedState.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.NamedState & zooid.NamedState.$Shape;
    }

    namespace NamedState {
        interface $Properties {
            position?: (zooid.Position.$Properties|null);
            digest?: (number|Long|null);
            isTaken?: (boolean|null);
            level?: (number|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.NamedState.$Properties;
    }

    interface ILearnerInfo extends zooid.LearnerInfo.$Properties {
    }

    class LearnerInfo {
        constructor(properties?: zooid.LearnerInfo.$Properties);
        $unknowns?: Uint8Array[];
        isObserver: boolean;
        promisedEpoch: (number|Long);
        promisedTo: number;
        promisedIncarnation: (number|Long);
        isFresh: boolean;
        isAmnesiac: boolean;
        ensembleId: string;
        isOwn: boolean;
        configVersion: (number|Long);
        attemptId: string;
        list?: (Uint8Array|null);
        isWish: boolean;
        diskId: string;
        levelMin: number;
        levelMax: number;
        version: string;
        namedBy?: (number|null);
        static encode(message: zooid.LearnerInfo.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.LearnerInfo & zooid.LearnerInfo.$Shape;
    }

    namespace LearnerInfo {
        interface $Properties {
            isObserver?: (boolean|null);
            promisedEpoch?: (number|Long|null);
            promisedTo?: (number|null);
            promisedIncarnation?: (number|Long|null);
            isFresh?: (boolean|null);
            isAmnesiac?: (boolean|null);
            ensembleId?: (string|null);
            isOwn?: (boolean|null);
            configVersion?: (number|Long|null);
            attemptId?: (string|null);
            list?: (Uint8Array|null);
            isWish?: (boolean|null);
            diskId?: (string|null);
            levelMin?: (number|null);
            levelMax?: (number|null);
            version?: (string|null);
            namedBy?: (number|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.LearnerInfo.$Properties;
    }

    interface ILeaderInfo extends zooid.LeaderInfo.$Properties {
    }

    class LeaderInfo {
        constructor(properties?: zooid.LeaderInfo.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        incarnation: (number|Long);
        ensembleId: string;
        static encode(message: zooid.LeaderInfo.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.LeaderInfo & zooid.LeaderInfo.$Shape;
    }

    namespace LeaderInfo {
        interface $Properties {
            epoch?: (number|Long|null);
            incarnation?: (number|Long|null);
            ensembleId?: (string|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.LeaderInfo.$Properties;
    }

    interface ITail extends zooid.Tail.$Properties {
    }

    class Tail {
        constructor(properties?: zooid.Tail.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        last: (number|Long);
        static encode(message: zooid.Tail.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Tail & zooid.Tail.$Shape;
    }

    namespace Tail {
        interface $Properties {
            epoch?: (number|Long|null);
            last?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Tail.$Properties;
    }

    interface IAckEpoch extends zooid.AckEpoch.$Properties {
    }

    class AckEpoch {
        constructor(properties?: zooid.AckEpoch.$Properties);
        $unknowns?: Uint8Array[];
        isRepeated: boolean;
        currentEpoch: (number|Long);
        logged?: (zooid.Position.$Properties|null);
        floor: (number|Long);
        tails: zooid.Tail.$Properties[];
        isFloorUncommitted: boolean;
        level: (number|Long);
        static encode(message: zooid.AckEpoch.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.AckEpoch & zooid.AckEpoch.$Shape;
    }

    namespace AckEpoch {
        interface $Properties {
            isRepeated?: (boolean|null);
            currentEpoch?: (number|Long|null);
            logged?: (zooid.Position.$Properties|null);
            floor?: (number|Long|null);
            tails?: (zooid.Tail.$Properties[]|null);
            isFloorUncommitted?: (boolean|null);
            level?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.AckEpoch.$Properties;
    }

    enum Mode {
        DIFF = 0,
        TRUNC = 1,
        SNAP = 2
    }

    interface IEpochRange extends zooid.EpochRange.$Properties {
    }

    class EpochRange {
        constructor(properties?: zooid.EpochRange.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        first: (number|Long);
        last: (number|Long);
        static encode(message: zooid.EpochRange.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.EpochRange & zooid.EpochRange.$Shape;
    }

    namespace EpochRange {
        interface $Properties {
            epoch?: (number|Long|null);
            first?: (number|Long|null);
            last?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.EpochRange.$Properties;
    }

    interface ISyncBegin extends zooid.SyncBegin.$Properties {
    }

    class SyncBegin {
        constructor(properties?: zooid.SyncBegin.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        mode: zooid.Mode;
        from?: (zooid.Position.$Properties|null);
        epochs: zooid.EpochRange.$Properties[];
        isUncommitted: boolean;
        origin?: (zooid.NamedState.$Properties|null);
        static encode(message: zooid.SyncBegin.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.SyncBegin & zooid.SyncBegin.$Shape;
    }

    namespace SyncBegin {
        interface $Properties {
            epoch?: (number|Long|null);
            mode?: (zooid.Mode|null);
            from?: (zooid.Position.$Properties|null);
            epochs?: (zooid.EpochRange.$Properties[]|null);
            isUncommitted?: (boolean|null);
            origin?: (zooid.NamedState.$Properties|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.SyncBegin.$Properties;
    }

    interface ISnapshotChunk extends zooid.SnapshotChunk.$Properties {
    }

    class SnapshotChunk {
        constructor(properties?: zooid.SnapshotChunk.$Properties);
        $unknowns?: Uint8Array[];
        index: (number|Long);
        isLast: boolean;
        data: Uint8Array;
        static encode(message: zooid.SnapshotChunk.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.SnapshotChunk & zooid.SnapshotChunk.$Shape;
    }

    namespace SnapshotChunk {
        interface $Properties {
            index?: (number|Long|null);
            isLast?: (boolean|null);
            data?: (Uint8Array|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.SnapshotChunk.$Properties;
    }

    interface ISnapshotCredit extends zooid.SnapshotCredit.$Properties {
    }

    class SnapshotCredit {
        constructor(properties?: zooid.SnapshotCredit.$Properties);
        $unknowns?: Uint8Array[];
        next: (number|Long);
        isWhole: boolean;
        static encode(message: zooid.SnapshotCredit.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.SnapshotCredit & zooid.SnapshotCredit.$Shape;
    }

    namespace SnapshotCredit {
        interface $Properties {
            next?: (number|Long|null);
            isWhole?: (boolean|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.SnapshotCredit.$Properties;
    }

    interface IEntries extends zooid.Entries.$Properties {
    }

    class Entries {
        constructor(properties?: zooid.Entries.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        previous: (number|Long);
        first: (number|Long);
        last: (number|Long);
        count: (number|Long);
        committed: (number|Long);
        check: (number|Long);
        run: Uint8Array;
        static encode(message: zooid.Entries.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Entries & zooid.Entries.$Shape;
    }

    namespace Entries {
        interface $Properties {
            epoch?: (number|Long|null);
            previous?: (number|Long|null);
            first?: (number|Long|null);
            last?: (number|Long|null);
            count?: (number|Long|null);
            committed?: (number|Long|null);
            check?: (number|Long|null);
            run?: (Uint8Array|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Entries.$Properties;
    }

    interface IStaged extends zooid.Staged.$Properties {
    }

    class Staged {
        constructor(properties?: zooid.Staged.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        through: (number|Long);
        static encode(message: zooid.Staged.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Staged & zooid.Staged.$Shape;
    }

    namespace Staged {
        interface $Properties {
            epoch?: (number|Long|null);
            through?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Staged.$Properties;
    }

    interface INewLeader extends zooid.NewLeader.$Properties {
    }

    class NewLeader {
        constructor(properties?: zooid.NewLeader.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        through: (number|Long);
        endsAmnesia: boolean;
        config?: (Uint8Array|null);
        ensembleId: string;
        committedConfig?: (Uint8Array|null);
        levelRaise?: (zooid.LevelRaise.$Properties|null);
        static encode(message: zooid.NewLeader.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.NewLeader & zooid.NewLeader.$Shape;
    }

    namespace NewLeader {
        interface $Properties {
            epoch?: (number|Long|null);
            through?: (number|Long|null);
            endsAmnesia?: (boolean|null);
            config?: (Uint8Array|null);
            ensembleId?: (string|null);
            committedConfig?: (Uint8Array|null);
            levelRaise?: (zooid.LevelRaise.$Properties|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.NewLeader.$Properties;
    }

    interface ILevelRaise extends zooid.LevelRaise.$Properties {
    }

    class LevelRaise {
        constructor(properties?: zooid.LevelRaise.$Properties);
        $unknowns?: Uint8Array[];
        level: number;
        zxid: (number|Long);
        replaced: number;
        static encode(message: zooid.LevelRaise.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.LevelRaise & zooid.LevelRaise.$Shape;
    }

    namespace LevelRaise {
        interface $Properties {
            level?: (number|null);
            zxid?: (number|Long|null);
            replaced?: (number|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.LevelRaise.$Properties;
    }

    interface IAckNewLeader extends zooid.AckNewLeader.$Properties {
    }

    class AckNewLeader {
        constructor(properties?: zooid.AckNewLeader.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        through: (number|Long);
        static encode(message: zooid.AckNewLeader.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.AckNewLeader & zooid.AckNewLeader.$Shape;
    }

    namespace AckNewLeader {
        interface $Properties {
            epoch?: (number|Long|null);
            through?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.AckNewLeader.$Properties;
    }

    interface IUpToDate extends zooid.UpToDate.$Properties {
    }

    class UpToDate {
        constructor(properties?: zooid.UpToDate.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        committed: (number|Long);
        static encode(message: zooid.UpToDate.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.UpToDate & zooid.UpToDate.$Shape;
    }

    namespace UpToDate {
        interface $Properties {
            epoch?: (number|Long|null);
            committed?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.UpToDate.$Properties;
    }

    interface IAck extends zooid.Ack.$Properties {
    }

    class Ack {
        constructor(properties?: zooid.Ack.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        durable: (number|Long);
        check: (number|Long);
        static encode(message: zooid.Ack.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Ack & zooid.Ack.$Shape;
    }

    namespace Ack {
        interface $Properties {
            epoch?: (number|Long|null);
            durable?: (number|Long|null);
            check?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Ack.$Properties;
    }

    interface ICommit extends zooid.Commit.$Properties {
    }

    class Commit {
        constructor(properties?: zooid.Commit.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        committed: (number|Long);
        static encode(message: zooid.Commit.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Commit & zooid.Commit.$Shape;
    }

    namespace Commit {
        interface $Properties {
            epoch?: (number|Long|null);
            committed?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Commit.$Properties;
    }

    interface IPing extends zooid.Ping.$Properties {
    }

    class Ping {
        constructor(properties?: zooid.Ping.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        check: (number|Long);
        committed: (number|Long);
        lacksRoom: boolean;
        static encode(message: zooid.Ping.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Ping & zooid.Ping.$Shape;
    }

    namespace Ping {
        interface $Properties {
            epoch?: (number|Long|null);
            check?: (number|Long|null);
            committed?: (number|Long|null);
            lacksRoom?: (boolean|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Ping.$Properties;
    }

    interface ITouch extends zooid.Touch.$Properties {
    }

    class Touch {
        constructor(properties?: zooid.Touch.$Properties);
        $unknowns?: Uint8Array[];
        session: (number|Long);
        timeoutMs: (number|Long);
        static encode(message: zooid.Touch.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Touch & zooid.Touch.$Shape;
    }

    namespace Touch {
        interface $Properties {
            session?: (number|Long|null);
            timeoutMs?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Touch.$Properties;
    }

    enum DiskRoom {
        ENOUGH = 0,
        LOW = 1,
        FULL = 2
    }

    interface IPong extends zooid.Pong.$Properties {
    }

    class Pong {
        constructor(properties?: zooid.Pong.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        check: (number|Long);
        applied: (number|Long);
        touches: zooid.Touch.$Properties[];
        room: zooid.DiskRoom;
        standby?: (zooid.NamedState.$Properties|null);
        static encode(message: zooid.Pong.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Pong & zooid.Pong.$Shape;
    }

    namespace Pong {
        interface $Properties {
            epoch?: (number|Long|null);
            check?: (number|Long|null);
            applied?: (number|Long|null);
            touches?: (zooid.Touch.$Properties[]|null);
            room?: (zooid.DiskRoom|null);
            standby?: (zooid.NamedState.$Properties|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Pong.$Properties;
    }

    interface ILeadershipTransfer extends zooid.LeadershipTransfer.$Properties {
    }

    class LeadershipTransfer {
        constructor(properties?: zooid.LeadershipTransfer.$Properties);
        $unknowns?: Uint8Array[];
        epoch: (number|Long);
        successor: number;
        static encode(message: zooid.LeadershipTransfer.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.LeadershipTransfer & zooid.LeadershipTransfer.$Shape;
    }

    namespace LeadershipTransfer {
        interface $Properties {
            epoch?: (number|Long|null);
            successor?: (number|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.LeadershipTransfer.$Properties;
    }

    interface IRefuse extends zooid.Refuse.$Properties {
    }

    class Refuse {
        constructor(properties?: zooid.Refuse.$Properties);
        $unknowns?: Uint8Array[];
        reason: zooid.Reason;
        text: string;
        static encode(message: zooid.Refuse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Refuse & zooid.Refuse.$Shape;
    }

    namespace Refuse {
        interface $Properties {
            reason?: (zooid.Reason|null);
            text?: (string|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Refuse.$Properties;
    }

    enum Reason {
        NOT_LEADING = 0,
        EPOCH_LOW = 1,
        DIVERGED = 2,
        UNABLE = 3,
        LEVEL = 4
    }

    interface IIdentity extends zooid.Identity.$Properties {
    }

    class Identity {
        constructor(properties?: zooid.Identity.$Properties);
        $unknowns?: Uint8Array[];
        scheme: string;
        id: string;
        static encode(message: zooid.Identity.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Identity & zooid.Identity.$Shape;
    }

    namespace Identity {
        interface $Properties {
            scheme?: (string|null);
            id?: (string|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Identity.$Properties;
    }

    interface IIdentities extends zooid.Identities.$Properties {
    }

    class Identities {
        constructor(properties?: zooid.Identities.$Properties);
        $unknowns?: Uint8Array[];
        client: (number|Long);
        identities: zooid.Identity.$Properties[];
        static encode(message: zooid.Identities.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Identities & zooid.Identities.$Shape;
    }

    namespace Identities {
        interface $Properties {
            client?: (number|Long|null);
            identities?: (zooid.Identity.$Properties[]|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Identities.$Properties;
    }

    interface IForward extends zooid.Forward.$Properties {
    }

    class Forward {
        constructor(properties?: zooid.Forward.$Properties);
        $unknowns?: Uint8Array[];
        count: (number|Long);
        run: Uint8Array;
        static encode(message: zooid.Forward.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Forward & zooid.Forward.$Shape;
    }

    namespace Forward {
        interface $Properties {
            count?: (number|Long|null);
            run?: (Uint8Array|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Forward.$Properties;
    }

    interface IOpenSession extends zooid.OpenSession.$Properties {
    }

    class OpenSession {
        constructor(properties?: zooid.OpenSession.$Properties);
        $unknowns?: Uint8Array[];
        sequence: (number|Long);
        session: (number|Long);
        timeoutMs: (number|Long);
        passwordHash: Uint8Array;
        static encode(message: zooid.OpenSession.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.OpenSession & zooid.OpenSession.$Shape;
    }

    namespace OpenSession {
        interface $Properties {
            sequence?: (number|Long|null);
            session?: (number|Long|null);
            timeoutMs?: (number|Long|null);
            passwordHash?: (Uint8Array|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.OpenSession.$Properties;
    }

    interface IRevalidate extends zooid.Revalidate.$Properties {
    }

    class Revalidate {
        constructor(properties?: zooid.Revalidate.$Properties);
        $unknowns?: Uint8Array[];
        sequence: (number|Long);
        session: (number|Long);
        timeoutMs: (number|Long);
        passwordHash: Uint8Array;
        static encode(message: zooid.Revalidate.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Revalidate & zooid.Revalidate.$Shape;
    }

    namespace Revalidate {
        interface $Properties {
            sequence?: (number|Long|null);
            session?: (number|Long|null);
            timeoutMs?: (number|Long|null);
            passwordHash?: (Uint8Array|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Revalidate.$Properties;
    }

    interface IRevalidated extends zooid.Revalidated.$Properties {
    }

    class Revalidated {
        constructor(properties?: zooid.Revalidated.$Properties);
        $unknowns?: Uint8Array[];
        sequence: (number|Long);
        isValid: boolean;
        static encode(message: zooid.Revalidated.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Revalidated & zooid.Revalidated.$Shape;
    }

    namespace Revalidated {
        interface $Properties {
            sequence?: (number|Long|null);
            isValid?: (boolean|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Revalidated.$Properties;
    }

    interface ISync extends zooid.Sync.$Properties {
    }

    class Sync {
        constructor(properties?: zooid.Sync.$Properties);
        $unknowns?: Uint8Array[];
        sequence: (number|Long);
        static encode(message: zooid.Sync.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Sync & zooid.Sync.$Shape;
    }

    namespace Sync {
        interface $Properties {
            sequence?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Sync.$Properties;
    }

    interface ISyncReply extends zooid.SyncReply.$Properties {
    }

    class SyncReply {
        constructor(properties?: zooid.SyncReply.$Properties);
        $unknowns?: Uint8Array[];
        sequence: (number|Long);
        readAt: (number|Long);
        static encode(message: zooid.SyncReply.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.SyncReply & zooid.SyncReply.$Shape;
    }

    namespace SyncReply {
        interface $Properties {
            sequence?: (number|Long|null);
            readAt?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.SyncReply.$Properties;
    }

    interface IRelayTo extends zooid.RelayTo.$Properties {
    }

    class RelayTo {
        constructor(properties?: zooid.RelayTo.$Properties);
        $unknowns?: Uint8Array[];
        leader: number;
        static encode(message: zooid.RelayTo.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.RelayTo & zooid.RelayTo.$Shape;
    }

    namespace RelayTo {
        interface $Properties {
            leader?: (number|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.RelayTo.$Properties;
    }

    interface IRelayReady extends zooid.RelayReady.$Properties {
    }

    class RelayReady {
        constructor(properties?: zooid.RelayReady.$Properties);
        $unknowns?: Uint8Array[];
        static encode(message: zooid.RelayReady.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.RelayReady & zooid.RelayReady.$Shape;
    }

    namespace RelayReady {
        interface $Properties {
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.RelayReady.$Properties;
    }

    interface IRelayOpen extends zooid.RelayOpen.$Properties {
    }

    class RelayOpen {
        constructor(properties?: zooid.RelayOpen.$Properties);
        $unknowns?: Uint8Array[];
        channel: (number|Long);
        sid: number;
        static encode(message: zooid.RelayOpen.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.RelayOpen & zooid.RelayOpen.$Shape;
    }

    namespace RelayOpen {
        interface $Properties {
            channel?: (number|Long|null);
            sid?: (number|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.RelayOpen.$Properties;
    }

    interface IRelayClose extends zooid.RelayClose.$Properties {
    }

    class RelayClose {
        constructor(properties?: zooid.RelayClose.$Properties);
        $unknowns?: Uint8Array[];
        channel: (number|Long);
        text: string;
        static encode(message: zooid.RelayClose.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.RelayClose & zooid.RelayClose.$Shape;
    }

    namespace RelayClose {
        interface $Properties {
            channel?: (number|Long|null);
            text?: (string|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.RelayClose.$Properties;
    }

    interface IRelayBytes extends zooid.RelayBytes.$Properties {
    }

    class RelayBytes {
        constructor(properties?: zooid.RelayBytes.$Properties);
        $unknowns?: Uint8Array[];
        channel: (number|Long);
        data: Uint8Array;
        static encode(message: zooid.RelayBytes.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.RelayBytes & zooid.RelayBytes.$Shape;
    }

    namespace RelayBytes {
        interface $Properties {
            channel?: (number|Long|null);
            data?: (Uint8Array|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.RelayBytes.$Properties;
    }

    interface IRelayRun extends zooid.RelayRun.$Properties {
    }

    class RelayRun {
        constructor(properties?: zooid.RelayRun.$Properties);
        $unknowns?: Uint8Array[];
        channel: (number|Long);
        epoch: (number|Long);
        previous: (number|Long);
        first: (number|Long);
        last: (number|Long);
        count: (number|Long);
        committed: (number|Long);
        check: (number|Long);
        static encode(message: zooid.RelayRun.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.RelayRun & zooid.RelayRun.$Shape;
    }

    namespace RelayRun {
        interface $Properties {
            channel?: (number|Long|null);
            epoch?: (number|Long|null);
            previous?: (number|Long|null);
            first?: (number|Long|null);
            last?: (number|Long|null);
            count?: (number|Long|null);
            committed?: (number|Long|null);
            check?: (number|Long|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.RelayRun.$Properties;
    }
}
