package world

// Detail types of the events that the account's rules send to the queue.
const (
	DetailStateChange = "EC2 Instance State-change Notification"
	DetailWarning     = "EC2 Spot Instance Interruption Warning"
	DetailHealth      = "AWS Health Event"
	DetailRebalance   = "EC2 Instance Rebalance Recommendation"
	DetailReservation = "EC2 Capacity Reservation Instance Interruption Warning"
)

// Event is an EventBridge event as it lies in the queue.
type Event struct {
	Version    string         `json:"version"`
	ID         string         `json:"id"`
	DetailType string         `json:"detail-type"`
	Source     string         `json:"source"`
	Account    string         `json:"account"`
	Time       string         `json:"time"`
	Region     string         `json:"region"`
	Resources  any            `json:"resources"` // texts; of one event a single one
	Detail     map[string]any `json:"detail"`
}
