package grpcapi

import (
	"context"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
)

// ModelStatistics answers with those of a version, a model or all models.
func (a *API) ModelStatistics(_ context.Context, r *kserve.ModelStatisticsRequest) (*kserve.ModelStatisticsResponse, error) {
	n, err := versionOf(r.Version)
	if err != nil {
		return nil, err
	}
	// An empty name asks for all models.
	counts, err := a.Server.Statistics(r.Name, n)
	if err != nil {
		return nil, err
	}
	answer := &kserve.ModelStatisticsResponse{}
	for i := range counts {
		answer.ModelStats = append(answer.ModelStats, statisticsOf(&counts[i].Totals))
	}
	return answer, nil
}

// statisticsOf are statistics as the message has them.
func statisticsOf(s *statistics.Totals) *kserve.ModelStatistics {
	// Numbers are the same as those over HTTP: both read one snapshot.
	m := &kserve.ModelStatistics{
		Name: s.Name, Version: s.Version, LastInference: s.LastInference, InferenceCount: s.Inferences, ExecutionCount: s.Executions,
		InferenceStats: &kserve.InferStatistics{
			Success: duration(s.Stats.Success), Fail: duration(s.Stats.Fail), Queue: duration(s.Stats.Queue),
			ComputeInput: duration(s.Stats.ComputeInput), ComputeInfer: duration(s.Stats.ComputeInfer), ComputeOutput: duration(s.Stats.ComputeOutput),
			CacheHit: duration(s.Stats.CacheHit), CacheMiss: duration(s.Stats.CacheMiss),
		},
	}
	for _, b := range s.Batches {
		m.BatchStats = append(m.BatchStats, &kserve.InferBatchStatistics{
			BatchSize: b.Size, ComputeInput: duration(b.ComputeInput), ComputeInfer: duration(b.ComputeInfer), ComputeOutput: duration(b.ComputeOutput),
		})
	}
	for _, u := range s.Memory {
		m.MemoryUsage = append(m.MemoryUsage, &kserve.MemoryUsage{Type: u.Kind, Id: u.ID, ByteSize: u.Bytes})
	}
	return m
}

// duration is a duration as the message has it.
func duration(d statistics.Duration) *kserve.StatisticDuration {
	return &kserve.StatisticDuration{Count: d.Count, Ns: d.NS}
}
