// A limiter for each client as users of golang.org/x/time/rate write it, a map behind a mutex, measured as rounds.js
// does it. Prints a line of JSON for each workload.
//
//	go-bench <rounds> <clients> …
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	batchSize    = 500
	warmBatches  = 1
	timedBatches = 20
	batches      = warmBatches + timedBatches
	warmRounds   = 3
	nameLength   = 24
)

type keyed struct {
	mu       sync.Mutex
	limiters map[string]*rate.Limiter
	limit    rate.Limit
	burst    int
}

func (k *keyed) allow(client string, now time.Time, cost int) bool {
	k.mu.Lock()
	limiter, ok := k.limiters[client]
	if !ok {
		limiter = rate.NewLimiter(k.limit, k.burst)
		k.limiters[client] = limiter
	}
	k.mu.Unlock()
	return limiter.AllowN(now, cost)
}

// names makes new strings of the names that names.js gives the clients.
func names(clients []uint32) []string {
	made := make([]string, len(clients))
	var text [nameLength]byte
	for i, client := range clients {
		word := (client + 1) * 0x9e3779b1
		at := 0
		for part := 0; part < 3; part++ {
			for shift := 28; shift >= 0; shift -= 4 {
				text[at] = "0123456789abcdef"[word>>shift&15]
				at++
			}
			word = (word ^ word>>15) * 0x85ebca6b
			word ^= word >> 13
		}
		made[i] = string(text[:])
	}
	return made
}

func order(kind string, count uint32) func([]uint32) {
	random := rand.New(rand.NewSource(1))
	if kind == "uniform" {
		return func(clients []uint32) {
			for i := range clients {
				clients[i] = uint32(random.Intn(int(count)))
			}
		}
	}
	sums := make([]float64, count)
	sum := 0.0
	for rank := range sums {
		sum += 1 / float64(rank+1)
		sums[rank] = sum
	}
	return func(clients []uint32) {
		for i := range clients {
			rank := sort.SearchFloat64s(sums[:count-1], random.Float64()*sum)
			clients[i] = uint32((uint64(rank)*618033 + 271828) % uint64(count))
		}
	}
}

type outcome struct {
	name     string
	admitted int
	burst    int
	first    int
}

func bench(o outcome, count uint32, rounds int) {
	k := &keyed{limiters: map[string]*rate.Limiter{}, limit: 0.001, burst: o.burst}
	now := time.Unix(1700000000, 0)
	for client := uint32(0); client < count; client++ {
		k.allow(names([]uint32{client})[0], now, o.first)
	}
	for _, kind := range []string{"uniform", "zipf"} {
		fill := order(kind, count)
		chosen := make([]uint32, batches*batchSize)
		all := []float64{}
		for round := -warmRounds; round < rounds; round++ {
			fill(chosen)
			var sum time.Duration
			for batch := 0; batch < batches; batch++ {
				fresh := names(chosen[batch*batchSize : (batch+1)*batchSize])
				admitted := 0
				start := time.Now()
				for _, name := range fresh {
					if k.allow(name, now, 1) {
						admitted++
					}
				}
				took := time.Since(start)
				if admitted != o.admitted {
					panic(fmt.Sprint(o.name, ": admitted ", admitted))
				}
				if batch >= warmBatches {
					sum += took
				}
				now = now.Add(time.Millisecond)
			}
			if round >= 0 {
				all = append(all, float64(sum.Nanoseconds())/(timedBatches*batchSize))
			}
		}
		line, err := json.Marshal(map[string]any{
			"compiler": runtime.Version(), "clients": count, "outcome": o.name, "order": kind,
			"ns": map[string][]float64{"x/time/rate": all},
		})
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}
}

func main() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	for _, text := range os.Args[2:] {
		count, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			panic(err)
		}
		bench(outcome{"admitted", batchSize, 1000000000, 1}, uint32(count), rounds)
		bench(outcome{"denied", 0, 5, 5}, uint32(count), rounds)
	}
}
