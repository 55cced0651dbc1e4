package alias

import dto "github.com/prometheus/client_model/go"

// sum adds up two series with equal labels. Neither is changed: they belong to their counters.
func sum(a, b *dto.Metric) *dto.Metric {
	out := &dto.Metric{Label: a.GetLabel()}
	switch {
	case a.Counter != nil:
		value := a.GetCounter().GetValue() + b.GetCounter().GetValue()
		out.Counter = &dto.Counter{Value: &value}
	case a.Gauge != nil:
		value := a.GetGauge().GetValue() + b.GetGauge().GetValue()
		out.Gauge = &dto.Gauge{Value: &value}
	case a.Summary != nil:
		number, total := a.GetSummary().GetSampleCount()+b.GetSummary().GetSampleCount(), a.GetSummary().GetSampleSum()+b.GetSummary().GetSampleSum()
		out.Summary = &dto.Summary{SampleCount: &number, SampleSum: &total}
	case a.Histogram != nil:
		out.Histogram = histogram(a.GetHistogram(), b.GetHistogram())
	}
	return out
}

// histogram adds up two of one metric, whose buckets are the same.
func histogram(a, b *dto.Histogram) *dto.Histogram {
	number, total := a.GetSampleCount()+b.GetSampleCount(), a.GetSampleSum()+b.GetSampleSum()
	out := &dto.Histogram{SampleCount: &number, SampleSum: &total}
	for i, bucket := range a.GetBucket() {
		n := bucket.GetCumulativeCount() + b.GetBucket()[i].GetCumulativeCount()
		out.Bucket = append(out.Bucket, &dto.Bucket{UpperBound: bucket.UpperBound, CumulativeCount: &n})
	}
	return out
}
