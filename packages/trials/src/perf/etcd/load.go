// Command load keeps a fixed number of requests of etcd's own Go client unanswered, as zooid-bench does at ZooKeeper:
//
//	load -endpoints 127.0.0.1:2379 -kind put|get -connections 64 -window 16 -seconds 4 -keys 1000 -bytes 1024
//
// It prints one JSON line: requests per second, and the latencies at 50 and 99 % in microseconds. A get is linearizable with
// -kind get, and answered by the server alone with -kind get-serializable, as a read of ZooKeeper is.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

type result struct {
	RequestsPerSecond float64 `json:"requestsPerSecond"`
	P50Micros         int64   `json:"p50Micros"`
	P99Micros         int64   `json:"p99Micros"`
	Requests          int     `json:"requests"`
}

func main() {
	endpoints := flag.String("endpoints", "127.0.0.1:2379", "host:port of each server, with commas")
	kind := flag.String("kind", "put", "put, get or get-serializable")
	connections := flag.Int("connections", 64, "connections")
	window := flag.Int("window", 16, "requests unanswered on each connection")
	seconds := flag.Float64("seconds", 4, "seconds that are measured")
	keys := flag.Int("keys", 1000, "keys")
	bytes := flag.Int("bytes", 1024, "bytes of a value")
	flag.Parse()

	hosts := strings.Split(*endpoints, ",")
	clients := make([]*clientv3.Client, *connections)
	for i := range clients {
		client, err := clientv3.New(clientv3.Config{Endpoints: hosts[i%len(hosts) : i%len(hosts)+1], DialTimeout: 5 * time.Second})
		if err != nil {
			log.Fatalf("connect to %s: %v", hosts[i%len(hosts)], err)
		}
		defer client.Close()
		clients[i] = client
	}
	ctx := context.Background()
	value := strings.Repeat("x", *bytes)
	for i := range *keys {
		if _, err := clients[0].Put(ctx, key(i), value); err != nil {
			log.Fatalf("write key %d: %v", i, err)
		}
	}
	request := func(client *clientv3.Client, i int) error {
		var err error
		switch *kind {
		case "put":
			_, err = client.Put(ctx, key(i%*keys), value)
		case "get":
			_, err = client.Get(ctx, key(i%*keys))
		case "get-serializable":
			_, err = client.Get(ctx, key(i%*keys), clientv3.WithSerializable())
		default:
			err = fmt.Errorf("-kind is put, get or get-serializable, found %s", *kind)
		}
		return err
	}

	end := time.Now().Add(time.Duration(*seconds * float64(time.Second)))
	began := time.Now()
	latencies := make([][]int64, *connections**window)
	var running sync.WaitGroup
	for worker := range latencies {
		running.Go(func() {
			client := clients[worker%*connections]
			for i := worker * 7919; time.Now().Before(end); i++ {
				sent := time.Now()
				if err := request(client, i); err != nil {
					log.Fatalf("%s: %v", *kind, err)
				}
				latencies[worker] = append(latencies[worker], time.Since(sent).Microseconds())
			}
		})
	}
	running.Wait()
	elapsed := time.Since(began).Seconds()
	all := slices.Concat(latencies...)
	slices.Sort(all)
	if err := json.NewEncoder(os.Stdout).Encode(result{
		RequestsPerSecond: float64(len(all)) / elapsed,
		P50Micros:         all[len(all)/2],
		P99Micros:         all[len(all)*99/100],
		Requests:          len(all),
	}); err != nil {
		log.Fatal(err)
	}
}

func key(i int) string {
	return fmt.Sprintf("/bench/%06d", i)
}
